#include "exchange/json_repair.h"

#include <fmt/format.h>

#include <algorithm>

namespace hocket {
namespace {

constexpr std::size_t kNestingMax = 128;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
}
bool is_constant(std::string_view word) { return word == "true" || word == "false" || word == "null"; }
bool is_not_a_number(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  return word == "NaN" || word == "nan" || word == "Infinity" || word == "inf" || word == "Inf";
}

/// Length of the UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

class Repairer {
 public:
  explicit Repairer(std::string_view text) : text_(text) { result_.text.reserve(text.size()); }

  RepairedJson run() {
    while (at_ < text_.size() && !gave_up_) step();
    if (gave_up_) return {std::string(text_), {}, 0};
    if (!open_.empty() || cut_) close_cut_text();
    return std::move(result_);
  }

 private:
  enum class Wants : unsigned char { kValue, kKey, kColon, kCommaOrEnd };
  struct Level {
    char close = '}';
    Wants wants = Wants::kValue;
    std::size_t elements = 0;
  };

  void step() {
    const char c = text_[at_];
    if (is_space(c)) return copy(1);
    if (open_.empty() && result_whole_) return give_up();
    if (c == '"') return string();
    if (c == '{' || c == '[') return open(c);
    if (c == '}' || c == ']') return close(c);
    if (c == ',') return comma();
    if (c == ':' && !open_.empty() && open_.back().wants == Wants::kColon) {
      open_.back().wants = Wants::kValue;
      return copy(1);
    }
    if (is_word(c) && wants_value()) return word();
    give_up();
  }

  [[nodiscard]] bool wants_value() const { return open_.empty() || open_.back().wants == Wants::kValue; }

  void copy(std::size_t count) {
    result_.text.append(text_.substr(at_, count));
    at_ += count;
  }

  void note(std::size_t at, std::string what, std::string how) {
    if (++result_.count <= RepairedJson::kKeptMax) result_.repairs.push_back({at, std::move(what), std::move(how)});
  }

  void give_up() { gave_up_ = true; }

  /// A value is whole: an element of its list or a member of its object, or the whole text.
  void value_ended() {
    if (open_.empty()) {
      result_whole_ = true;
      return;
    }
    Level& level = open_.back();
    level.wants = Wants::kCommaOrEnd;
    ++level.elements;
    mark_whole();
  }

  /// Here the text may be cut without halving an element of the outermost list.
  void mark_whole() {
    const bool outermost = open_.size() == 1 || (open_.size() == 2 && open_.back().close == ']');
    if (!outermost) return;
    whole_bytes_ = result_.text.size();
    whole_at_ = at_;
    whole_open_ = open_;
  }

  void open(char c) {
    if (!wants_value() || open_.size() == kNestingMax) return give_up();
    copy(1);
    open_.push_back(c == '{' ? Level{'}', Wants::kKey} : Level{']', Wants::kValue});
    mark_whole();
  }

  void close(char c) {
    if (open_.empty() || open_.back().close != c) return give_up();
    const Level& level = open_.back();
    const bool after_comma = level.elements > 0 && level.wants == (c == '}' ? Wants::kKey : Wants::kValue);
    if (after_comma) {
      drop_comma();
    } else if (c == '}' && level.wants == Wants::kValue) {
      missing_value();
    } else if (level.wants == Wants::kColon) {
      return give_up();
    }
    copy(1);
    open_.pop_back();
    value_ended();
  }

  void comma() {
    if (open_.empty()) return give_up();
    Level& level = open_.back();
    if (level.wants == Wants::kValue && (level.close == '}' || level.elements > 0)) missing_value();
    if (level.wants != Wants::kCommaOrEnd) return give_up();
    level.wants = level.close == '}' ? Wants::kKey : Wants::kValue;
    comma_at_ = result_.text.size();
    copy(1);
  }

  void missing_value() {
    note(at_, "a missing value", "read as null");
    result_.text += "null";
    value_ended();
  }

  void drop_comma() {
    note(at_, "a comma before the closing bracket", "dropped");
    result_.text[comma_at_] = ' ';
  }

  void word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const bool number = (word.front() >= '0' && word.front() <= '9') || word.front() == '-';
    if (is_not_a_number(word)) {
      note(at_, fmt::format("{}, which JSON has no word for", word), "read as null");
      result_.text += "null";
      at_ = end;
    } else if (end == text_.size() && !open_.empty()) {
      at_ = end;  // a number or word that may go on: the text is cut here
      return;
    } else if (!is_constant(word) && !number) {
      return give_up();
    } else {
      copy(word.size());
    }
    value_ended();
  }

  void string() {
    const bool key = !open_.empty() && open_.back().wants == Wants::kKey;
    if (!key && !wants_value()) return give_up();
    copy(1);
    while (at_ < text_.size() && text_[at_] != '"') character();
    if (at_ >= text_.size()) {
      cut_ = true;
      return;
    }
    copy(1);
    if (key) {
      open_.back().wants = Wants::kColon;
    } else {
      value_ended();
    }
  }

  void character() {
    const char c = text_[at_];
    if (c == '\\') return copy(std::min<std::size_t>(2, text_.size() - at_));
    if (static_cast<unsigned char>(c) < 0x20) {
      note(at_, fmt::format("a raw control character 0x{:02x} in a string", c), "escaped");
      result_.text += fmt::format("\\u{:04x}", c);
      ++at_;
      return;
    }
    const std::size_t length = utf8_length(text_.substr(at_, 4));
    if (length > 0) return copy(length);
    if (text_.size() - at_ < 4) return copy(1);  // may be cut; the end of the text decides
    note(at_, fmt::format("byte 0x{:02x}, which is no UTF-8, in a string", static_cast<unsigned char>(c)),
         "read as '?'");
    result_.text += '?';
    ++at_;
  }

  /// Back to the last whole element, and the brackets that it stands in closed.
  void close_cut_text() {
    if (open_.empty() || whole_open_.empty()) return;
    const std::size_t first_dropped = text_.find_first_not_of(" \t\r\n,", whole_at_);
    const std::size_t dropped = first_dropped == std::string_view::npos ? 0 : text_.size() - first_dropped;
    result_.text.resize(whole_bytes_);
    std::string brackets;
    for (; !whole_open_.empty(); whole_open_.pop_back()) brackets += whole_open_.back().close;
    result_.text += brackets;
    note(text_.size(), "an end before its time",
         fmt::format("{} closed{}", brackets,
                     dropped == 0 ? "" : fmt::format("; the last {} bytes, an element cut off, dropped", dropped)));
  }

  std::string_view text_;
  RepairedJson result_;
  std::size_t at_ = 0;
  std::size_t comma_at_ = 0;     // in the result, of the last comma
  std::vector<Level> open_;      // innermost last
  std::size_t whole_bytes_ = 0;  // of the result up to the last whole element of the outermost list
  std::size_t whole_at_ = 0;     // where that ends in the original
  std::vector<Level> whole_open_;
  bool cut_ = false;           // the text ends inside a string
  bool result_whole_ = false;  // a value stands, only space may follow
  bool gave_up_ = false;
};

}  // namespace

RepairedJson repair_json(std::string_view text) { return Repairer(text).run(); }

}  // namespace hocket
