// hocket's own platform YAML, for `hocket doctor`: what it describes, which figures have no source, and whether it
// comes back the same when written.
#include "exchange/file_kind.h"
#include "exchange/platform_yaml.h"
#include "platform/fields.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Platform platform, read_platform(bytes, file_name));
  Examination result;
  result.contents.push_back(fmt::format("network {}, {} engines", platform.network.topology, platform.engines.size()));
  for (const CommunicationEngine& engine : platform.engines) {
    result.contents.push_back(fmt::format("engine {}: {}", engine.name, name_of(engine.kind)));
  }
  for (const NamedFigure& f : figures_of(platform)) {
    if (!f.figure.sourced()) result.losses.assumed("", f.name, "it has no source");
  }
  HOCKET_TRY_ASSIGN(const std::string written, write_platform(platform));
  HOCKET_TRY_ASSIGN(const Platform again, read_platform(written, "the copy"));
  HOCKET_TRY_ASSIGN(const std::string twice, write_platform(again));
  result.round_trip = written == twice ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text = "written and read again: every figure and source";
  return result;
}

}  // namespace

extern const FileKind file_kind_hocket_platform{
    .name = "hocket-platform",
    .description = "a platform (network, endpoint, engines, power)",
    .not_a_topology = "; its network is what `topology` says",
    .recognise = looks_like_platform,
    .examine = examine,
};

}  // namespace hocket
