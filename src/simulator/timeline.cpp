#include "simulator/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "exchange/perfetto.h"
#include "simulator/chrome_words.h"

namespace hocket {

std::string chrome_timeline(const SimulationResult& result, const Plan& plan, const Topology& topology) {
  std::string text = fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"model\":\"{}\",\"bars_left_out\":\"{}\"}},\"traceEvents\":[\n",
      name_of(result.model), result.timeline_dropped);
  const std::string cut =
      result.timeline_dropped > 0 ? fmt::format(" ({} bars left out)", result.timeline_dropped) : std::string();
  text += fmt::format(R"({{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{{"name":"links{}"}}}})", cut);
  const auto out = std::back_inserter(text);
  for (LinkId link = 0; link < result.link_bytes.size(); ++link) {
    if (result.link_bytes[link] == 0) continue;
    fmt::format_to(out, ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}}",
                   link, chrome_quoted(topology.describe_link(link)));
  }
  for (const LinkInterval& bar : result.timeline) {
    const Op& op = plan.schedule().op(bar.op);
    fmt::format_to(out,
                   ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"name\":\"{} -> "
                   "{}\",\"args\":{{\"piece\":{},"
                   "\"step\":{},\"channel\":{}}}}}",
                   bar.link, chrome_microseconds(bar.begin), chrome_microseconds(bar.end - bar.begin),
                   plan.schedule().rank_of(bar.op), op.peer, op.source_piece, op.step, op.channel);
  }
  return text + "\n]}\n";
}

std::string perfetto_timeline(const SimulationResult& result, const Plan& plan, const Topology& topology) {
  PerfettoProcess links{"links", {}};
  if (result.timeline_dropped > 0) links.name += fmt::format(" ({} bars left out)", result.timeline_dropped);
  std::vector<std::size_t> track_of(result.link_bytes.size(), 0);
  for (LinkId link = 0; link < result.link_bytes.size(); ++link) {
    if (result.link_bytes[link] == 0) continue;
    track_of[link] = links.tracks.size();
    links.tracks.push_back({topology.describe_link(link), {}});
  }
  for (const LinkInterval& bar : result.timeline) {
    const Op& op = plan.schedule().op(bar.op);
    links.tracks[track_of[bar.link]].slices.push_back(
        {fmt::format("{} -> {}", plan.schedule().rank_of(bar.op), op.peer), bar.begin, bar.end});
  }
  for (PerfettoTrack& track : links.tracks) {
    std::stable_sort(track.slices.begin(), track.slices.end(),
                     [](const PerfettoSlice& a, const PerfettoSlice& b) { return a.begin < b.begin; });
  }
  return write_perfetto(std::span(&links, 1));
}

}  // namespace hocket
