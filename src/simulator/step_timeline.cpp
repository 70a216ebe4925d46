#include "simulator/step_timeline.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace hocket {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(Picos time) { return fmt::format("{}.{:06}", time.count / 1000000, time.count % 1000000); }

}  // namespace

std::string step_timeline(std::span<const StepTrack> tracks) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto out = std::back_inserter(text);
  const char* between = "";
  for (std::size_t pid = 0; pid < tracks.size(); ++pid) {
    fmt::format_to(out, R"({}{{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", between,
                   pid + 1, quoted(tracks[pid].name));
    between = ",\n";
    for (const StepInterval& bar : tracks[pid].intervals) {
      fmt::format_to(out, R"({}{{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{}}})", between, pid + 1,
                     bar.compute ? 1 : 2, microseconds(bar.begin), microseconds(bar.end - bar.begin), quoted(bar.name));
    }
  }
  return text + "\n]}\n";
}

}  // namespace hocket
