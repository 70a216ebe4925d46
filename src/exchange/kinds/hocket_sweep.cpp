// hocket's own sweep YAML, for `hocket doctor`: how many points it has and what varies. What the fields mean is checked
// by `hocket sweep`.
#include <fmt/ranges.h>

#include "exchange/file_kind.h"
#include "exchange/sweep_yaml.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Sweep sweep, read_sweep(bytes, file_name));
  Examination result;
  result.contents = {fmt::format("'{}': {} point{}", sweep.name, sweep.points(), sweep.points() == 1 ? "" : "s"),
                     fmt::format("varies {}", fmt::join(sweep.varied(), ", "))};
  for (const SweepSetting& setting : sweep.fixed)
    result.contents.push_back(fmt::format("{} is {}", setting.key, setting.value));
  result.round_trip_text = "hocket reads sweeps and writes none";
  return result;
}

}  // namespace

extern const FileKind file_kind_hocket_sweep{
    .name = "hocket-sweep",
    .description = "a sweep (a grid of simulations: hocket sweep)",
    .not_a_topology = "; it says what to simulate, hocket sweep takes it",
    .recognise = looks_like_sweep,
    .examine = examine,
};

}  // namespace hocket
