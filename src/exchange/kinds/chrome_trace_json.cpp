// Chrome / Kineto / Perfetto JSON traces: read event by event, never as a tree. Counts of events and of what kind, the
// rank. Traces that broke while they were written are repaired where that is safe, each repair named; others are
// refused with the place where the JSON breaks and the number of events that are whole before that.
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "exchange/file_kind.h"
#include "exchange/json_repair.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

using Json = nlohmann::json;

/// Follows the nesting; an event is an object in the array traceEvents, or in the outermost array.
class EventCounter : public nlohmann::json_sax<Json> {
 public:
  std::uint64_t events = 0, text_times = 0;
  std::map<std::string, std::uint64_t> by_category;
  std::string rank;
  std::size_t error_at = 0;
  std::string error;
  std::string bad_time;  // the first that is none

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool number_float(number_float_t value, const string_t&) override {
    check_sign(value);
    return true;
  }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& value) override {
    if (!in_event()) return true;
    if (key_ == "ts" || key_ == "dur") take_text_time(value);
    if (key_ == "cat" && by_category.size() < kCategoriesMax) ++by_category[value.substr(0, 40)];
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    return depth_ <= kNestingMax;
  }
  bool end_object() override {
    if (in_event() && depth_ == event_depth_) ++events;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 1 || (depth_ == 2 && key_ == "traceEvents")) event_depth_ = depth_ + 1;
    return depth_ <= kNestingMax;
  }
  bool end_array() override {
    if (depth_ + 1 == event_depth_) event_depth_ = 0;
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    key_ = name;
    if (depth_ == 1) section_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& what) override {
    error_at = position == 0 ? 0 : position - 1;
    const std::string_view text = what.what();
    const std::size_t colon = text.find("; ");
    error = text.substr(colon == std::string_view::npos ? 0 : colon + 2, 120);
    return false;
  }
  [[nodiscard]] bool too_deep() const { return depth_ > kNestingMax; }

 private:
  static constexpr std::size_t kNestingMax = 128, kCategoriesMax = 64;

  [[nodiscard]] bool in_event() const { return event_depth_ != 0 && depth_ == event_depth_; }
  void take_text_time(const std::string& text) {
    double time = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), time);
    const bool whole = failed == std::errc{} && end == text.data() + text.size() && std::isfinite(time);
    if (whole) ++text_times;
    if (!whole) spoil(fmt::format("\"{}\", which is no number", text.substr(0, 40)));
  }
  void spoil(const std::string& what) {
    if (bad_time.empty()) bad_time = fmt::format("event {}: {} is {}", events, key_, what);
  }
  template <class T>
  void check_sign(T value) {
    if constexpr (std::is_signed_v<T>) {
      if (value < 0 && in_event() && key_ == "dur") spoil(fmt::format("{}, below zero", value));
    }
  }
  template <class T>
  bool number(T value) {
    check_sign(value);
    if (depth_ == 2 && section_ == "distributedInfo" && key_ == "rank") rank = std::to_string(value);
    return true;
  }

  std::size_t depth_ = 0, event_depth_ = 0;
  std::string key_, section_;
};

bool recognise(std::string_view bytes) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  const std::string_view head = bytes.substr(start, std::size_t{1} << 20);
  if (head.front() == '{') {
    return bytes.find("\"traceEvents\"") != std::string_view::npos ||
           head.find("\"deviceProperties\"") != std::string_view::npos;
  }
  return head.front() == '[' && head.find("\"ph\"") != std::string_view::npos;
}

Error where_it_breaks(const EventCounter& counter, std::string_view bytes, std::string_view file_name) {
  const TextPlace place = place_of(bytes, counter.error_at);
  std::string error = counter.too_deep() ? "nests deeper than a trace" : counter.error;
  for (char& c : error) c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return {Code::kMalformed,
          fmt::format("{}:{}:{}: JSON breaks at byte {} of {}: {} ({} whole events before it)", file_name, place.line,
                      place.column, counter.error_at, bytes.size(), error, counter.events)};
}

/// Counts, where need be after repairs, which the losses name.
Result<EventCounter> count_events(std::string_view bytes, std::string_view file_name, LossReport& losses) {
  EventCounter counter;
  if (Json::sax_parse(bytes.begin(), bytes.end(), &counter)) return counter;
  const RepairedJson repaired = repair_json(bytes);
  EventCounter again;
  if (repaired.count == 0 || !Json::sax_parse(repaired.text, &again))
    return tl::unexpected<Error>(where_it_breaks(counter, bytes, file_name));
  for (const JsonRepair& r : repaired.repairs) losses.repaired(fmt::format("byte {}", r.at), r.what, r.how);
  if (repaired.count > repaired.repairs.size()) {
    losses.repaired("", fmt::format("{} more of these", repaired.count - repaired.repairs.size()), "likewise");
  }
  return again;
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  Examination result;
  HOCKET_TRY_ASSIGN(const EventCounter counter, count_events(bytes, file_name, result.losses));
  if (!counter.bad_time.empty()) return fail(Code::kMalformed, "{}: {}", file_name, counter.bad_time);
  result.contents.push_back(fmt::format("{} events, {} bytes", counter.events, bytes.size()));
  if (!counter.rank.empty()) result.contents.push_back(fmt::format("rank {} (distributedInfo)", counter.rank));
  for (const auto& [category, count] : counter.by_category) {
    result.contents.push_back(fmt::format("{} of category '{}'", count, category));
  }
  if (counter.rank.empty()) result.losses.assumed("", "no rank", "the file has no distributedInfo with one");
  if (counter.text_times > 0) {
    result.losses.repaired("ts, dur", fmt::format("{} times given as text", counter.text_times),
                           "converted to numbers");
  }
  result.losses.assumed("ts, dur", "microseconds", "what the format means");
  result.round_trip_text = "traces are read only";
  return result;
}

}  // namespace

extern const FileKind file_kind_chrome_trace_json{
    .name = "chrome-trace-json",
    .description = "a Chrome or Kineto trace JSON",
    .not_a_topology = "; it says what happened when, not what joins the ranks",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket
