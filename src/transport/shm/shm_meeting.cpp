#include "transport/shm/shm_meeting.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace hocket {
namespace {

using std::chrono::steady_clock;

bool through_memory(std::string_view wish) { return wish == "auto" || wish == "shm"; }

/// Of a wait, after which it is asked whether the rank waited for has died.
constexpr std::chrono::milliseconds kSlice{250};
constexpr std::chrono::seconds kFarewell{2};
constexpr std::string_view kPlaceKey = "shm/place";

/// Two processes that read the same here run on one kernel.
std::string boot_name() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string name;
  return file >> name ? name : "unknown";
}

std::string text_of(const Nonce& token) {
  std::string text;
  for (const std::byte b : token) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

std::optional<Nonce> token_of(std::string_view text) {
  Nonce token{};
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned value = 0;
    const char* end = text.data() + 2 * i + 2;
    if (std::from_chars(text.data() + 2 * i, end, value, 16).ptr != end) return std::nullopt;
    token[i] = static_cast<std::byte>(value);
  }
  return token;
}

/// The words up to the next space; what follows it stays in `text`.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

class Meeting {
 public:
  Meeting(Job& job, std::string_view wish, SteadyTime deadline) : job_(job), wish_(wish), deadline_(deadline) {}

  Result<std::shared_ptr<ShmSegment>> run() {
    HOCKET_TRY(through_memory(wish_) ? come() : answer(""));
    Result<bool> agreed = hear_all();
    if (!agreed) {
      leave_together();
      return tl::unexpected<Error>(std::move(agreed.error()));
    }
    if (!*agreed) return std::shared_ptr<ShmSegment>();
    segment_->close_door();
    return std::move(segment_);
  }

 private:
  [[nodiscard]] const Member& me() const { return job_.members[job_.launch.rank]; }
  [[nodiscard]] static std::string key_of(std::uint32_t rank) { return fmt::format("shm/{}", rank); }

  Result<void> answer(std::string_view refusal) {
    return job_.store->set(key_of(me().rank), fmt::format("{} {}", wish_, refusal), deadline_);
  }

  /// Whether it is to be memory, from what all ranks have said.
  Result<bool> hear_all() {
    std::string refusal;
    for (const Member& member : job_.members) {
      HOCKET_TRY_ASSIGN(const std::string words, await(key_of(member.rank), member));
      std::string_view rest = words;
      const std::string_view theirs = take_word(rest);
      if (theirs != wish_)
        return fail(Code::kMismatch, "{} wants transport {}, {} wants {}", me().text(), wish_, member.text(), theirs);
      if (!rest.empty() && refusal.empty()) refusal = fmt::format("{}: {}", member.text(), rest);
    }
    if (wish_ == "shm" && !refusal.empty()) return fail(Code::kUnsupported, "no shared memory: {}", refusal);
    return through_memory(wish_) && refusal.empty();
  }

  /// Rank 0 has the store: it goes when the others have read what they need for an error of their own.
  void leave_together() {
    const SteadyTime until = std::min(deadline_, steady_clock::now() + kFarewell);
    const auto left = [](std::uint32_t rank) { return fmt::format("shm/left/{}", rank); };
    if (me().rank != 0) static_cast<void>(job_.store->set(left(me().rank), "", until));
    for (std::uint32_t rank = 1; rank < job_.launch.size && me().rank == 0; ++rank)
      static_cast<void>(job_.store->get(left(rank), until));
  }

  /// Makes or maps the segment; an obstacle is an answer, not an error.
  Result<void> come() {
    Result<std::shared_ptr<ShmSegment>> segment;
    if (me().rank == 0) {
      segment = ShmSegment::create(job_.launch.size);
      const std::string place =
          segment ? fmt::format("{} {} {}", boot_name(), text_of((*segment)->token()), (*segment)->where()) : "";
      HOCKET_TRY(job_.store->set(kPlaceKey, place, deadline_));
    } else {
      HOCKET_TRY_ASSIGN(const std::string place, await(kPlaceKey, job_.members[0]));
      segment = map(place);
    }
    if (!segment) return answer(segment.error().text);
    segment_ = std::move(*segment);
    return answer("");
  }

  [[nodiscard]] Result<std::shared_ptr<ShmSegment>> map(std::string_view place) const {
    const std::string_view boot = take_word(place);
    if (boot.empty()) return fail(Code::kUnsupported, "rank 0 has none to map");
    if (boot != boot_name())
      return fail(Code::kUnsupported, "it runs on host {}, rank 0 on host {}", me().host, job_.members[0].host);
    const std::optional<Nonce> token = token_of(take_word(place));
    if (!token) return fail(Code::kMalformed, "rank 0 left word of shared memory that makes no sense");
    return ShmSegment::map(std::string(place), *token, job_.launch.size);
  }

  Result<std::string> await(std::string_view key, const Member& from) {
    for (;;) {
      const SteadyTime until = std::min(deadline_, steady_clock::now() + kSlice);
      HOCKET_TRY_ASSIGN(const std::optional<std::string> words, job_.store->get(key, until));
      if (words) return *words;
      HOCKET_TRY_ASSIGN(const auto gone, job_.store->get(gone_key(from.rank), steady_clock::now()));
      if (gone) return fail(Code::kPeerFailed, "{} lost {} before all agreed on a transport", me().text(), from.text());
      if (until == deadline_)
        return fail(Code::kTimeout, "{}: {} has not said in time which transport it can use", me().text(), from.text());
    }
  }

  Job& job_;
  std::string_view wish_;
  SteadyTime deadline_;
  std::shared_ptr<ShmSegment> segment_;
};

}  // namespace

Result<std::shared_ptr<ShmSegment>> meet_in_memory(Job& job, const std::string& wish, SteadyTime deadline) {
  if (job.launch.size > 1) return Meeting(job, wish, deadline).run();
  if (!through_memory(wish)) return std::shared_ptr<ShmSegment>();
  return ShmSegment::create(1);
}

}  // namespace hocket
