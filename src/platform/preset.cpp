#include "platform/preset.h"

#include "base/spelling.h"

namespace hocket {

Result<Platform> platform_from_words(std::string_view words) {
  const std::size_t colon = words.find(':');
  const std::string_view name = words.substr(0, colon);
  const std::string_view arguments = colon == std::string_view::npos ? std::string_view() : words.substr(colon + 1);
  std::vector<std::string_view> names;
  for (const PlatformPreset* preset : platform_presets()) {
    if (preset->name == name) {
      HOCKET_TRY_ASSIGN(Platform platform, preset->build(arguments));
      HOCKET_TRY(validate(platform));
      return platform;
    }
    names.push_back(preset->name);
  }
  return fail(Code::kInvalidArgument, "no file and no platform '{}'{}; known: {}", words.substr(0, 200),
              spelling_hint(name, names), fmt::join(names, ", "));
}

}  // namespace hocket
