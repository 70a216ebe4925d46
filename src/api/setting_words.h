// SettingWords: what was said about a setting and by whom: a flag of a tool, or the first of its variables that is not
// empty. A setting has one parser for all who may say it, and its errors name who did.
// Ownership: copies. Threading: pure functions. Refuses: words that a setting cannot mean (an Error with both).
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "net/launch.h"

namespace hocket {

/// A flag that stands for a variable and wins over it. Empty words: it was not given.
struct FlagWords {
  std::string flag;
  std::string variable;
  std::string words;
};

struct Said {
  std::string name;  // "--spin", "HOCKET_SPIN"
  std::string words;
  bool by_flag = false;

  [[nodiscard]] bool given() const { return !words.empty(); }
  /// "--spin 5us", "HOCKET_SPIN='5us'"
  [[nodiscard]] std::string text() const;
  /// An error of a parser, with who said the words in front.
  [[nodiscard]] Error because(const Error& error) const;

  [[nodiscard]] Result<std::chrono::nanoseconds> time() const;
  [[nodiscard]] Result<std::chrono::nanoseconds> time_above_0() const;
  [[nodiscard]] Result<std::uint32_t> number(std::string_view what) const;
  /// 0 or 1.
  [[nodiscard]] Result<bool> on() const;
};

class SettingWords {
 public:
  SettingWords(Variables variables, std::vector<FlagWords> flags)
      : variables_(std::move(variables)), flags_(std::move(flags)) {}

  [[nodiscard]] Said said(std::initializer_list<const char*> variables) const;
  [[nodiscard]] Said said(const char* variable) const { return said({variable}); }
  /// What the variables say where a flag wins over one of them; nothing where none does.
  [[nodiscard]] Said outdone(std::initializer_list<const char*> variables) const;

 private:
  Variables variables_;
  std::vector<FlagWords> flags_;
};

}  // namespace hocket
