#include "exchange/doctor.h"

#include <algorithm>
#include <map>

#include "exchange/csv.h"
#include "exchange/file_text.h"
#include "exchange/schedule_format.h"
#include "exchange/text_place.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < 200;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Reads what `format`, or hocket's own YAML where it cannot, makes of the topology.
void round_trip(const Topology& topology, const TopologyFormat& format, Examination& result) {
  const TopologyFormat* writer = &format;
  Result<std::string> written = fail(Code::kUnsupported, "the format is read only");
  if (format.write != nullptr) written = format.write(topology);
  std::string why;
  if (!written) {
    why = fmt::format(" ({})", written.error().text);
    const auto own = find_topology_format("hocket-yaml");
    writer = *own;
    written = writer->write(topology);
  }
  if (!written) {
    result.round_trip_text = fmt::format("not written: {}", written.error().text);
    return;
  }
  const auto again = writer->load(*written, "the copy");
  if (!again) {
    result.round_trip = RoundTrip::kDiffers;
    result.round_trip_text = fmt::format("the copy does not read: {}", again.error().text);
    return;
  }
  const bool same = again->fingerprint() == topology.fingerprint();
  result.round_trip = same ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text =
      fmt::format("written as {} and read again: vertices, links, rates, ranks{}", writer->name, why);
}

void describe_topology(const Topology& t, Examination& result) {
  std::map<std::string_view, std::size_t> kinds;
  for (const Vertex& v : t.vertices()) ++kinds[name_of(v.kind)];
  std::string vertices;
  for (const auto& [kind, count] : kinds) vertices += fmt::format("{}{} {}", vertices.empty() ? "" : ", ", count, kind);
  result.contents.push_back(fmt::format("{} ranks, {} vertices ({}), {} directed links", t.rank_count(),
                                        t.vertices().size(), vertices, t.links().size()));
  std::map<std::pair<double, double>, std::size_t> rates;
  for (const Link& link : t.links()) ++rates[{link.bandwidth.value, link.latency.value}];
  for (const auto& [rate, count] : rates) {
    result.contents.push_back(
        fmt::format("{} links of {}, {}", count, format_bandwidth({rate.first}), format_seconds({rate.second})));
    if (result.contents.size() > 40) break;
  }
  result.ranks = t.rank_count();
  result.dimensions = static_cast<std::uint32_t>(t.extents().size());
}

Result<Diagnosis> diagnose_topology(const TopologyFormat& format, std::string_view bytes, std::string_view file_name) {
  Diagnosis result{.format = std::string(format.name),
                   .description = fmt::format("a topology: {}", format.description)};
  auto read = format.read(bytes, file_name);
  if (read) {
    describe_topology(read->topology, result.examination);
    result.examination.losses = read->losses;
    const std::vector<std::string> losses = read->losses.lines();
    for (const std::string& note : read->topology.notes()) {
      const bool is_loss = std::find(losses.begin(), losses.end(), note) != losses.end();
      if (!is_loss) result.examination.contents.push_back(note);
    }
    round_trip(read->topology, format, result.examination);
    return result;
  }
  if (read.error().code != Code::kUnsupported) return tl::unexpected<Error>(read.error());
  result.lacking = read.error().text;
  result.examination.round_trip_text = "there is no network to write";
  if (format.describe != nullptr) {
    HOCKET_TRY_ASSIGN(const std::string text, format.describe(bytes, file_name));
    result.examination.contents = lines_of(text);
  }
  return result;
}

Result<Diagnosis> diagnose_schedule(const ScheduleFormat& format, std::string_view bytes, std::string_view file_name) {
  Diagnosis result{.format = std::string(format.name),
                   .description = fmt::format("a schedule: {}", format.description)};
  HOCKET_TRY_ASSIGN(const Schedule schedule, format.read(bytes, file_name));
  Examination& e = result.examination;
  e.contents.push_back(fmt::format("{} on {} ranks, {} ops, {} pieces", name_of(schedule.collective().kind),
                                   schedule.rank_count(), schedule.ops().size(), schedule.division().pieces()));
  e.contents.push_back("whether it does what it says: hocket verify");
  e.ranks = schedule.rank_count();
  if (format.read_losses != nullptr) e.losses = format.read_losses(bytes);
  if (!format.keeps_ops) {
    e.round_trip_text = "a copy says the same in other steps";
    return result;
  }
  const auto written = format.write(schedule);
  if (!written) {
    e.round_trip_text = fmt::format("not written: {}", written.error().text);
    return result;
  }
  const auto again = format.read(*written, "the copy");
  e.round_trip = again && again->fingerprint() == schedule.fingerprint() ? RoundTrip::kSame : RoundTrip::kDiffers;
  e.round_trip_text = again ? fmt::format("written as {} and read again: ops, pieces, dependencies", format.name)
                            : fmt::format("the copy does not read: {}", again.error().text);
  return result;
}

/// Whether a file of some kind can also be taken as a schedule.
std::string schedule_line(const ScheduleFormat& format, std::string_view bytes, std::string_view file_name) {
  const Result<Schedule> read = format.read(bytes, file_name);
  if (!read) return fmt::format("no schedule by itself: {}", read.error().text);
  return fmt::format("as a schedule: {} on {} ranks, {} ops (hocket verify proves it)",
                     name_of(read->collective().kind), read->rank_count(), read->ops().size());
}

std::string_view guess_of(std::string_view bytes) {
  if (bytes.size() > 262 && bytes.substr(257, 5) == "ustar") return "a tar archive: unpack it and give a file of it";
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive: unpack it and give a file of it";
  if (bytes.starts_with("\x28\xB5\x2F\xFD")) return "packed with zstd: unpack it first";
  if (bytes.starts_with("\x7F"
                        "ELF"))
    return "a program";
  if (bytes.starts_with("\x89PNG") || bytes.starts_with("\xFF\xD8\xFF")) return "a picture";
  const std::string_view head = bytes.substr(0, 4096);
  const bool is_binary = std::any_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\x1b';
  });
  if (is_binary) return "binary of no format known";
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && head[start] == '<') return "XML with a root element of no format known";
  if (start != std::string_view::npos && (head[start] == '{' || head[start] == '[')) return "JSON of no format known";
  return "text of no format known";
}

/// What is wrong may be that it was taken for something else.
Result<Diagnosis> taken_for(std::string_view name, Result<Diagnosis> diagnosed) {
  if (diagnosed) return diagnosed;
  return fail(diagnosed.error().code, "{} (taken for {})", diagnosed.error().text, name);
}

Result<Diagnosis> examine_kind(const FileKind& kind, std::string_view bytes, std::string_view file_name) {
  Diagnosis result{.format = std::string(kind.name), .description = std::string(kind.description)};
  HOCKET_TRY_ASSIGN(result.examination, kind.examine(bytes, file_name));
  return result;
}

Result<Diagnosis> recognise_and_examine(std::string_view bytes, std::string_view file_name) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(Code::kMalformed, "{}: the file is empty", file_name);
  }
  const FileKind* const kind = recognise_kind(bytes);
  const ScheduleFormat* const schedule = recognise_schedule(bytes);
  if (schedule != nullptr && kind == nullptr)
    return taken_for(schedule->name, diagnose_schedule(*schedule, bytes, file_name));
  for (const TopologyFormat* format : topology_formats()) {
    if (format->recognise != nullptr && format->recognise(bytes))
      return taken_for(format->name, diagnose_topology(*format, bytes, file_name));
  }
  if (kind != nullptr) {
    HOCKET_TRY_ASSIGN(Diagnosis result, taken_for(kind->name, examine_kind(*kind, bytes, file_name)));
    if (schedule != nullptr) result.examination.contents.push_back(schedule_line(*schedule, bytes, file_name));
    return result;
  }
  return fail(Code::kMalformed, "{}: {} ({} bytes)", file_name, guess_of(bytes), bytes.size());
}

}  // namespace

Result<Diagnosis> diagnose_bytes(std::string_view bytes, std::string_view file_name) {
  auto result = with_printable_error(recognise_and_examine(bytes, file_name));
  if (!result) return result;
  result->lacking = printable(result->lacking);
  for (std::string& line : result->examination.contents) line = printable(line);
  result->examination.round_trip_text = printable(result->examination.round_trip_text);
  return result;
}

Result<Diagnosis> diagnose_file(const std::string& path) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kFileBytesMax, CutGzip::kKeep));
  Result<Diagnosis> diagnosed = diagnose_bytes(text.bytes, path);
  if (const auto whole = text.losses.refuse_repairs(path); !diagnosed && !whole) {
    return fail(diagnosed.error().code, "{}; {}", diagnosed.error().text, text_of(text.losses.entries().front()));
  }
  HOCKET_TRY_ASSIGN(Diagnosis result, std::move(diagnosed));
  LossReport losses = text.losses;
  losses.append(result.examination.losses);
  result.examination.losses = std::move(losses);
  return result;
}

Result<void> compare_astra_files(std::span<const Diagnosis> diagnoses, std::span<const std::string> names) {
  const auto traces = static_cast<std::uint64_t>(
      std::count_if(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& d) { return d.format == "chakra-et"; }));
  for (std::size_t i = 0; i < diagnoses.size(); ++i) {
    if (diagnoses[i].format != "astra-yaml") continue;
    const Examination& network = diagnoses[i].examination;
    if (traces > 1 && traces != network.ranks) {
      return fail(Code::kMismatch, "{}: the values of 'npus_count' multiply to {}, but {} Chakra traces are given",
                  names[i], network.ranks, traces);
    }
    for (std::size_t j = 0; j < diagnoses.size(); ++j) {
      const std::uint32_t system = diagnoses[j].examination.dimensions;
      if (diagnoses[j].format != "astra-system-json" || network.dimensions == system) continue;
      return fail(Code::kMismatch, "{}: 'topology' has {} value(s), but the '...-implementation' lists of {} have {}",
                  names[i], network.dimensions, names[j], system);
    }
  }
  return {};
}

}  // namespace hocket
