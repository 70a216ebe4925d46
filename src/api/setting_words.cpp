#include "api/setting_words.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"

namespace hocket {

using std::chrono::nanoseconds;

std::string Said::text() const {
  return by_flag ? fmt::format("{} {}", name, words) : fmt::format("{}='{}'", name, words);
}

Error Said::because(const Error& error) const { return {error.code, fmt::format("{}: {}", text(), error.text)}; }

Result<nanoseconds> Said::time() const {
  const Result<Seconds> seconds = parse_seconds(words);
  if (!seconds) return fail(seconds.error().code, "{}: {}", name, seconds.error().text);
  return nanoseconds(static_cast<std::int64_t>(seconds->value * 1e9));
}

Result<nanoseconds> Said::time_above_0() const {
  HOCKET_TRY_ASSIGN(const nanoseconds given, time());
  if (given.count() > 0) return given;
  return fail(Code::kInvalidArgument, "{}: must be above 0 and at most 1000000s", text());
}

Result<std::uint32_t> Said::number(std::string_view what) const {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error == std::errc{} && end == words.data() + words.size()) return value;
  return fail(Code::kInvalidArgument, "{} is not {}", text(), what);
}

Result<bool> Said::on() const {
  if (words == "0" || words == "1") return words == "1";
  return fail(Code::kInvalidArgument, "{}: known: 0 and 1", text());
}

Said SettingWords::said(std::initializer_list<const char*> variables) const {
  for (const char* name : variables) {
    const auto flag = std::find_if(flags_.begin(), flags_.end(), [name](const FlagWords& each) {
      return each.variable == name && !each.words.empty();
    });
    if (flag != flags_.end()) return {flag->flag, flag->words, true};
    const char* text = variables_(name);
    if (text != nullptr && *text != '\0') return {name, text, false};
  }
  return {};
}

Said SettingWords::outdone(std::initializer_list<const char*> variables) const {
  return said(variables).by_flag ? SettingWords(variables_, {}).said(variables) : Said{};
}

}  // namespace hocket
