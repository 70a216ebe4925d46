#include "exchange/load_platform.h"

#include <filesystem>

#include "exchange/file_kind.h"
#include "exchange/file_text.h"
#include "exchange/platform_yaml.h"
#include "exchange/text_place.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::size_t kPartMax = std::size_t{1} << 20;

Result<std::string> text_of(const std::string& path) {
  HOCKET_TRY_ASSIGN(FileText text, read_file_text(path, kPartMax));
  HOCKET_TRY(text.losses.refuse_repairs(path));
  return std::move(text.bytes);
}

/// The text of a file that must be of a kind, or an error that says of which it is.
Result<std::string> text_of_kind(const std::string& path, bool (*is)(std::string_view), std::string_view wanted) {
  std::error_code error;
  if (path.find('\0') != std::string::npos || !std::filesystem::exists(path, error))
    return fail(Code::kInvalidArgument, "'{}' is no file: {} is wanted here", path.substr(0, 200), wanted);
  HOCKET_TRY_ASSIGN(std::string text, text_of(path));
  if (is(text)) return text;
  const FileKind* const kind = recognise_kind(text);
  return fail(Code::kMalformed, "{}: {}, not {}", path,
              kind == nullptr ? std::string_view("of no kind known") : kind->description, wanted);
}

bool is_astra_network(const std::string& path) {
  std::error_code error;
  if (path.size() > kSpecLengthMax || path.find('\0') != std::string::npos) return false;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const Result<std::string> text = text_of(path);
  return text && !looks_like_platform(*text) && looks_like_astra_network(*text);
}

Result<AstraInput> read_astra(const PlatformFiles& files) {
  AstraInput input;
  input.network_file = files.platform;
  input.system_file = files.system;
  input.memory_file = files.remote_memory;
  HOCKET_TRY_ASSIGN(const std::string network,
                    text_of_kind(files.platform, looks_like_astra_network, "an ASTRA-sim network YAML"));
  HOCKET_TRY_ASSIGN(input.network, read_astra_network(network, files.platform));
  HOCKET_TRY_ASSIGN(const std::string system,
                    text_of_kind(files.system, looks_like_astra_system, "an ASTRA-sim system JSON"));
  HOCKET_TRY_ASSIGN(input.system, read_astra_system(system, files.system));
  HOCKET_TRY(check_dimensions(input));
  if (files.remote_memory.empty()) return input;
  HOCKET_TRY_ASSIGN(const std::string memory,
                    text_of_kind(files.remote_memory, looks_like_astra_memory, "an ASTRA-sim remote memory JSON"));
  HOCKET_TRY_ASSIGN(input.memory, read_astra_memory(memory, files.remote_memory));
  return input;
}

Result<ImportedPlatform> import_platform(const PlatformFiles& files) {
  const bool beside = !files.system.empty() || !files.remote_memory.empty();
  if (!beside && !is_astra_network(files.platform)) {
    HOCKET_TRY_ASSIGN(Platform platform, load_platform(files.platform));
    return ImportedPlatform{.platform = std::move(platform), .taken = {}, .losses = {}};
  }
  if (files.system.empty()) {
    return fail(Code::kMalformed, "{}: {}ASTRA-sim's network has no endpoint: give its system JSON too (--system FILE)",
                files.platform, files.remote_memory.empty() ? "" : "--remote-memory goes with --system; ");
  }
  HOCKET_TRY_ASSIGN(const AstraInput input, read_astra(files));
  HOCKET_TRY_ASSIGN(ImportedPlatform imported, platform_from_astra(input));
  HOCKET_TRY(imported.platform.build_topology());
  return imported;
}

}  // namespace

Result<AstraInput> load_astra(const PlatformFiles& files) { return with_printable_error(read_astra(files)); }

Result<ImportedPlatform> load_platform(const PlatformFiles& files) {
  return with_printable_error(import_platform(files));
}

}  // namespace hocket
