#include "exchange/load_topology.h"

#include <filesystem>

#include "exchange/csv.h"
#include "exchange/file_kind.h"
#include "exchange/file_text.h"
#include "exchange/schedule_format.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

std::string known_formats() {
  std::string names;
  for (const TopologyFormat* format : topology_formats()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format->name);
  }
  return names;
}

}  // namespace

Result<const TopologyFormat*> find_topology_format(std::string_view name) {
  for (const TopologyFormat* format : topology_formats()) {
    if (format->name == name) return format;
  }
  return fail(Code::kInvalidArgument, "unknown topology format '{}', known: {}", name.substr(0, 100), known_formats());
}

Result<const TopologyFormat*> topology_format_for_path(std::string_view path) {
  const std::size_t slash = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  const std::string_view extension =
      dot == std::string_view::npos || dot < slash ? std::string_view() : path.substr(dot);
  std::string known;
  for (const TopologyFormat* format : topology_formats()) {
    if (format->write == nullptr || format->extensions.empty()) continue;
    const std::string padded = fmt::format(" {} ", format->extensions);
    if (!extension.empty() && padded.find(fmt::format(" {} ", extension)) != std::string::npos) return format;
    known += fmt::format("{}{}", known.empty() ? "" : " ", format->extensions);
  }
  return fail(Code::kInvalidArgument, "no topology format is written to files like '{}'; known: {}", path, known);
}

Result<Topology> TopologyFormat::load(std::string_view text, std::string_view file_name) const {
  HOCKET_TRY_ASSIGN(ReadTopology result, read(text, file_name));
  return std::move(result.topology);
}

Result<ReadTopology> build_with_losses(TopologyBuilder builder, LossReport losses) {
  for (std::string& line : losses.lines()) builder.add_note(std::move(line));
  HOCKET_TRY_ASSIGN(Topology topology, std::move(builder).build());
  return ReadTopology{std::move(topology), std::move(losses)};
}

Result<std::string> read_topology_text(const std::string& path) {
  HOCKET_TRY_ASSIGN(FileText text, read_file_text(path, kTopologyTextMax));
  return std::move(text.bytes);
}

Result<const TopologyFormat*> recognise_topology(std::string_view text, std::string_view file_name) {
  for (const TopologyFormat* format : topology_formats()) {
    if (format->recognise != nullptr && format->recognise(text)) return format;
  }
  if (const FileKind* const kind = recognise_kind(text)) {
    return fail(Code::kMalformed, "{}: {}, not a topology{}", file_name, kind->description, kind->not_a_topology);
  }
  if (const ScheduleFormat* const format = recognise_schedule(text))
    return fail(Code::kMalformed, "{}: a schedule ({}), not a topology", file_name, format->name);
  if (trim_blanks(text.substr(0, 4096)).empty()) return fail(Code::kMalformed, "{}: the file is empty", file_name);
  return fail(Code::kMalformed, "{}: not a topology file of a known format ({})", file_name, known_formats());
}

Result<Topology> load_topology(std::string_view spec_or_path, const TopologyOptions& options, Repairs repairs) {
  const std::string path(spec_or_path);
  std::error_code error;
  const bool is_file =
      path.size() <= kSpecLengthMax && path.find('\0') == std::string::npos && std::filesystem::exists(path, error);
  if (!is_file) {
    HOCKET_TRY_ASSIGN(Topology built, topology_from_spec(spec_or_path, options));
    return apply_changes(std::move(built), options);
  }
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kTopologyTextMax));
  HOCKET_TRY_ASSIGN(const TopologyFormat* const format, recognise_topology(text.bytes, path));
  HOCKET_TRY_ASSIGN(ReadTopology read, with_printable_error(format->read(text.bytes, path)));
  if (repairs == Repairs::kRefuse) {
    HOCKET_TRY(text.losses.refuse_repairs(path));
    HOCKET_TRY(read.losses.refuse_repairs(path));
  }
  for (std::string& line : text.losses.lines()) read.topology = with_note(std::move(read.topology), std::move(line));
  if (!options.links.empty() || options.uplink) {
    read.topology = with_note(std::move(read.topology), "--link and --uplink ignored: the file states its rates");
  }
  return apply_changes(std::move(read.topology), options);
}

}  // namespace hocket
