#include "net/cause.h"

#include <charconv>

namespace hocket {
namespace {

/// That the store may take to answer; it takes in what it was told also later.
constexpr std::chrono::milliseconds kAnswer{1000};

}  // namespace

std::string failure_words(const Error& error) { return fmt::format("{} {}", static_cast<int>(error.code), error.text); }

std::optional<Error> read_failure(const std::string& words) {
  int code = -1;
  const char* const end = words.data() + words.size();
  const auto [after, wrong] = std::from_chars(words.data(), end, code);
  if (wrong != std::errc() || code < 0 || code > static_cast<int>(Code::kInternal) || end - after < 2)
    return std::nullopt;
  return Error{static_cast<Code>(code), std::string(after + 1, end)};
}

Error told_cause(StoreClient& store, Error error, const std::string& me) {
  if (error.text.starts_with("store of ")) error.text = me + ": " + error.text;
  if (error.code != Code::kPeerFailed) return error;
  // Refused where another has told before: those words come before the refusal.
  std::ignore = store.tell_failure(failure_words(error), std::chrono::steady_clock::now() + kAnswer);
  const StoreClient::Overheard heard = store.overhear();
  if (const std::optional<Error> told = heard.failure ? read_failure(*heard.failure) : std::nullopt)
    return {told->code, fmt::format("{} was told: {}", me, told->text)};
  const std::string lost = " lost " + store.server();
  if (heard.died && error.text.find(lost) == std::string::npos)
    return {Code::kPeerFailed, fmt::format("{}{}: it ended without a word", me, lost)};
  return error;
}

}  // namespace hocket
