#include "simulator/step_timeline.h"

#include <fmt/format.h>

#include <iterator>

#include "exchange/perfetto.h"
#include "simulator/chrome_words.h"

namespace hocket {

namespace {

std::string chrome_step_timeline(std::span<const StepTrack> tracks) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto out = std::back_inserter(text);
  const char* between = "";
  for (std::size_t pid = 0; pid < tracks.size(); ++pid) {
    fmt::format_to(out, R"({}{{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", between,
                   pid + 1, chrome_quoted(tracks[pid].name));
    between = ",\n";
    for (const StepInterval& bar : tracks[pid].intervals) {
      fmt::format_to(out, R"({}{{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{}}})", between, pid + 1,
                     bar.compute ? 1 : 2, chrome_microseconds(bar.begin), chrome_microseconds(bar.end - bar.begin),
                     chrome_quoted(bar.name));
    }
  }
  return text + "\n]}\n";
}

std::string perfetto_step_timeline(std::span<const StepTrack> tracks) {
  std::vector<PerfettoProcess> processes;
  processes.reserve(tracks.size());
  for (const StepTrack& track : tracks) {
    PerfettoProcess& process =
        processes.emplace_back(PerfettoProcess{track.name, {{"compute", {}}, {"communication", {}}}});
    for (const StepInterval& bar : track.intervals)
      process.tracks[bar.compute ? 0 : 1].slices.push_back({bar.name, bar.begin, bar.end});
  }
  return write_perfetto(processes);
}

}  // namespace

std::string step_timeline(std::span<const StepTrack> tracks, std::string_view file) {
  return is_perfetto_name(file) ? perfetto_step_timeline(tracks) : chrome_step_timeline(tracks);
}

}  // namespace hocket
