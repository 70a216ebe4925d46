#include "exchange/load_topology.h"

#include <filesystem>
#include <fstream>

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

Result<std::string> read_topology_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail(Code::kIo, "'{}' is a folder, not a topology file", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Code::kIo, "cannot open '{}'", path);
  std::string text;
  char block[1 << 16];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kTopologyTextMax) {
      return fail(Code::kResourceExhausted, "'{}' is larger than {} bytes", path, kTopologyTextMax);
    }
  }
  if (in.bad()) return fail(Code::kIo, "cannot read '{}'", path);
  return text;
}

Result<const TopologyFormat*> recognise_topology(std::string_view text, std::string_view file_name) {
  for (const TopologyFormat* format : topology_formats()) {
    if (format->recognise(text)) return format;
  }
  return fail(Code::kMalformed, "{}: not a topology file of a known format ({})", file_name, known_formats());
}

Result<Topology> load_topology(std::string_view spec_or_path, const TopologyOptions& options) {
  const std::string path(spec_or_path);
  std::error_code error;
  const bool is_file =
      path.size() <= kSpecLengthMax && path.find('\0') == std::string::npos && std::filesystem::exists(path, error);
  if (!is_file) {
    HOCKET_TRY_ASSIGN(Topology built, topology_from_spec(spec_or_path, options));
    return apply_changes(std::move(built), options);
  }
  HOCKET_TRY_ASSIGN(const std::string text, read_topology_text(path));
  HOCKET_TRY_ASSIGN(const TopologyFormat* const format, recognise_topology(text, path));
  HOCKET_TRY_ASSIGN(Topology read, format->read(text, path));
  if (!options.links.empty() || options.uplink) {
    read = with_note(std::move(read), "--link and --uplink ignored: the file states its rates");
  }
  return apply_changes(std::move(read), options);
}

}  // namespace hocket
