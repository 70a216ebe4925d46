#include "exchange/size_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>

#include "base/units.h"
#include "exchange/file_text.h"
#include "exchange/json_text.h"
#include "exchange/msccl.h"
#include "exchange/mscclpp.h"
#include "exchange/nccl_tuner.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kFilesMax = 10'000, kTableBytesMax = std::size_t{64} << 20;

using Json = nlohmann::ordered_json;

bool is_plan_windows(std::string_view text) {
  return has_json_key(text, "windows") && text.find("\"from_bytes\"") != std::string_view::npos;
}

/// Bytes of a document; -1 stands nowhere, so anything but a whole number is refused.
Result<std::uint64_t> bytes_of(const Json& object, const char* key, std::string_view file) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || at == object.end() || !at->is_number_unsigned())
    return fail(Code::kMalformed, "{}: '{}' is missing or no whole number", file, key);
  return at->get<std::uint64_t>();
}

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>().substr(0, 80) : "?";
}

Result<void> read_plan_windows(std::string_view text, std::string_view file, SizeTable& table) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file));
  const auto windows = root.find("windows");
  if (windows == root.end() || !windows->is_array()) return fail(Code::kMalformed, "{}: 'windows' is no list", file);
  const auto ranks = root.find("ranks");
  const std::string group =
      fmt::format("{} of {} ranks on {}", text_of(root, "collective"),
                  ranks != root.end() && ranks->is_number_unsigned() ? ranks->dump() : "?", text_of(root, "topology"));
  for (const Json& window : *windows) {
    HOCKET_TRY_ASSIGN(const std::uint64_t from, bytes_of(window, "from_bytes", file));
    HOCKET_TRY_ASSIGN(const std::uint64_t to, bytes_of(window, "to_bytes", file));
    const std::string where = fmt::format("{} window {}", file, table.entries.size());
    table.entries.push_back({group, from, to, text_of(window, "algorithm"), where});
  }
  return {};
}

/// What a line of a tuner file asks of a communicator: ranks, nodes, pipelined operations, registered buffers; -1: any.
using TunerCase = std::array<std::int64_t, 4>;
TunerCase case_of(const TunerLine& line) { return {line.ranks, line.nodes, line.pipe_ops, line.registered}; }

/// The communicators that fit both; nothing when none does.
std::optional<TunerCase> both(const TunerCase& a, const TunerCase& b) {
  TunerCase meet{};
  for (std::size_t i = 0; i < meet.size(); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return std::nullopt;
    meet[i] = a[i] >= 0 ? a[i] : b[i];
  }
  return meet;
}

std::string group_of(const TunerLine& line, const TunerCase& asked) {
  const auto any = [](std::int64_t value) { return value < 0 ? std::string("any") : fmt::format("{}", value); };
  std::string group = fmt::format("{} of {} ranks on {} nodes", name_of(line.kind), any(asked[0]), any(asked[1]));
  if (asked[2] >= 0) group += fmt::format(", {} pipelined", asked[2]);
  if (asked[3] >= 0) group += asked[3] == 0 ? ", not registered" : ", registered";
  return group;
}

/// A line for any communicator also belongs to every narrower group that other lines name, alone or together.
Result<void> read_tuner(std::string_view text, std::string_view file, SizeTable& table) {
  constexpr std::size_t kCasesMax = 256;
  HOCKET_TRY_ASSIGN(const std::vector<TunerLine> lines, read_nccl_tuner(text, file));
  std::set<TunerCase> cases;
  for (const TunerLine& line : lines) cases.insert(case_of(line));
  const std::set<TunerCase> stated = cases;
  for (const TunerCase& a : stated) {
    for (const TunerCase& b : stated) {
      if (const auto meet = both(a, b); meet && cases.size() < kCasesMax) cases.insert(*meet);
    }
  }
  for (const TunerLine& line : lines) {
    const std::uint64_t to = line.to == std::numeric_limits<std::uint32_t>::max() ? kNoEnd : line.to;
    for (const TunerCase& asked : cases) {
      if (both(case_of(line), asked) != std::optional(asked)) continue;
      table.entries.push_back({group_of(line, asked), line.from, to, line.algorithm + "/" + line.protocol,
                               fmt::format("{}:{}", file, line.line)});
    }
  }
  return {};
}

Result<void> read_mscclpp(std::string_view text, std::string_view file, SizeTable& table) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file));
  const auto gpus = root.find("gpus");
  const std::size_t ranks = gpus != root.end() && gpus->is_array() ? gpus->size() : 0;
  const bool in_place = root.contains("inplace") && root["inplace"].is_boolean() && root["inplace"].get<bool>();
  SizeEntry entry{
      fmt::format("{} of {} ranks, {}", text_of(root, "collective"), ranks, in_place ? "in place" : "out of place"), 0,
      kNoEnd, text_of(root, "name"), std::string(file)};
  if (root.contains("min_message_size")) {
    HOCKET_TRY_ASSIGN(entry.from, bytes_of(root, "min_message_size", file));
  }
  if (root.contains("max_message_size")) {
    HOCKET_TRY_ASSIGN(entry.to, bytes_of(root, "max_message_size", file));
  }
  table.entries.push_back(std::move(entry));
  return {};
}

Result<std::uint64_t> attribute_bytes(const pugi::xml_node& algo, const char* name, std::string_view place) {
  const std::string_view text = algo.attribute(name).value();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  return fail(Code::kMalformed, "{}: {}=\"{}\" is not a number of bytes", place, name, text.substr(0, 40));
}

Result<void> read_msccl(std::string_view text, std::string_view file, SizeTable& table) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  const TextPlace broken = place_of(text, parsed.offset < 0 ? 0 : static_cast<std::size_t>(parsed.offset));
  if (!parsed)
    return fail(Code::kMalformed, "{}:{}:{}: XML is malformed: {}", file, broken.line, broken.column,
                parsed.description());
  const pugi::xml_node algo = document.child("algo");
  if (!algo) return fail(Code::kMalformed, "{}:1:1: no <algo> element", file);
  const TextPlace at = place_of(text, static_cast<std::size_t>(std::max<std::ptrdiff_t>(algo.offset_debug(), 0)));
  const std::string place = fmt::format("{}:{}:{}", file, at.line, at.column);
  SizeEntry entry{"", 0, kNoEnd, std::string(algo.attribute("name").value()).substr(0, 80), std::string(file)};
  const auto never = [&](const char* name) {
    table.findings.push_back(
        {"never chosen", fmt::format("{}: no {}: readers that want it never choose this file", place, name)});
  };
  if (!algo.attribute("minBytes")) never("minBytes");
  if (!algo.attribute("outofplace")) never("outofplace");
  if (algo.attribute("minBytes")) {
    HOCKET_TRY_ASSIGN(entry.from, attribute_bytes(algo, "minBytes", place));
  }
  if (algo.attribute("maxBytes")) {
    HOCKET_TRY_ASSIGN(entry.to, attribute_bytes(algo, "maxBytes", place));
    if (entry.to == 0) entry.to = kNoEnd;
  }
  const std::string base = fmt::format("{} of {} ranks", std::string_view(algo.attribute("coll").value()).substr(0, 40),
                                       std::string_view(algo.attribute("ngpus").value()).substr(0, 10));
  const std::string_view in_place = algo.attribute("inplace").value(), out = algo.attribute("outofplace").value();
  if (in_place == "1") {
    entry.group = base + ", in place";
    table.entries.push_back(entry);
  }
  if (out == "1" || (out.empty() && in_place != "1")) {
    entry.group = base + ", out of place";
    table.entries.push_back(entry);
  }
  return {};
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (auto entry = std::filesystem::directory_iterator(path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
    if (files.size() > kFilesMax) return fail(Code::kResourceExhausted, "{}: over {} files", path, kFilesMax);
  }
  if (error) return fail(Code::kIo, "{}: {}", path, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return "any size above";
  return format_bytes({static_cast<std::int64_t>(bytes)});
}

Result<bool> add_size_entries(std::string_view text, std::string_view file, SizeTable& table) {
  const auto reader = is_plan_windows(text)   ? read_plan_windows
                      : is_mscclpp_json(text) ? read_mscclpp
                      : is_msccl_xml(text)    ? read_msccl
                      : is_nccl_tuner(text)   ? read_tuner
                                              : nullptr;
  if (reader == nullptr) return false;
  const std::size_t first = table.entries.size();
  HOCKET_TRY(reader(text, file, table));
  for (std::size_t i = first; i < table.entries.size(); ++i) {
    const SizeEntry& e = table.entries[i];
    if (e.from <= e.to) continue;
    table.findings.push_back({"never chosen", fmt::format("{}: the window from {} to {} is empty", e.where,
                                                          size_text(e.from), size_text(e.to))});
  }
  return true;
}

Result<SizeTable> read_size_table(const std::string& path) {
  HOCKET_TRY_ASSIGN(const std::vector<std::string> files, files_of(path));
  SizeTable table;
  for (const std::string& file : files) {
    HOCKET_TRY_ASSIGN(const FileText text, read_file_text(file, kTableBytesMax));
    HOCKET_TRY_ASSIGN(const bool known, add_size_entries(text.bytes, file, table));
    if (!known) table.left_out.push_back(file);
  }
  if (!table.entries.empty()) return table;
  return fail(Code::kMalformed,
              "{}: no windows: wanted plan --sizes .json, an NCCL tuner table, MSCCL XML or MSCCL++ plans", path);
}

std::vector<SizeFinding> find_gaps(std::span<const SizeEntry> entries) {
  std::map<std::string, std::vector<const SizeEntry*>> groups;
  for (const SizeEntry& entry : entries) {
    if (entry.from <= entry.to) groups[entry.group].push_back(&entry);
  }
  std::vector<SizeFinding> findings;
  for (auto& [group, list] : groups) {
    std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->from < b->from; });
    const SizeEntry* highest = list.front();
    for (std::size_t i = 1; i < list.size(); ++i) {
      const SizeEntry& next = *list[i];
      if (next.from <= highest->to) {
        findings.push_back({"overlap", fmt::format("{}: {} to {} is taken by {} ({}) and {} ({})", group,
                                                   size_text(next.from), size_text(std::min(next.to, highest->to)),
                                                   highest->where, highest->name, next.where, next.name)});
      } else if (next.from - highest->to > 1) {
        findings.push_back(
            {"hole", fmt::format("{}: {} to {} is taken by none, between {} and {}", group, size_text(highest->to + 1),
                                 size_text(next.from - 1), highest->where, next.where)});
      }
      if (next.to > highest->to) highest = &next;
    }
  }
  return findings;
}

}  // namespace hocket
