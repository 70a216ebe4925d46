#include "transport/shm/shm_meeting.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "net/cause.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

bool through_memory(std::string_view wish) { return wish == "auto" || wish == "shm"; }

/// Of a wait, after which it is asked whether the rank waited for has died.
constexpr std::chrono::milliseconds kSlice{250};
constexpr std::chrono::seconds kFarewell{2};

/// The word of `said` for a rank: of several with commas between the one with its number, the last one for all further
/// ranks.
std::string word_for(std::uint32_t rank, std::string_view said) {
  for (; rank > 0; --rank) {
    const std::size_t comma = said.find(',');
    if (comma == std::string_view::npos) break;
    said.remove_prefix(comma + 1);
  }
  return std::string(said.substr(0, said.find(',')));
}

/// Two ranks that read the same here run on one kernel, or are said to be on one host.
std::string host_id(std::uint32_t rank) {
  if (std::optional<std::string> said = named_host(rank)) return *said;
  return HostPlace::own().kernel;
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

  Result<HostGroup> run() {
    Result<HostGroup> met = meet();
    if (met) return met;
    Error cause = told_cause(*job_.store, std::move(met.error()), me().text());
    leave_together();
    return tl::unexpected<Error>(std::move(cause));
  }

 private:
  [[nodiscard]] const Member& me() const { return job_.members[job_.launch.rank]; }
  [[nodiscard]] std::string my_host() const { return host_id(job_.launch.launched_as.value_or(me().rank)); }
  [[nodiscard]] static std::string wish_key(std::uint32_t rank) { return fmt::format("shm/{}", rank); }
  [[nodiscard]] static std::string place_key(std::uint32_t rank) { return fmt::format("shm/place/{}", rank); }
  [[nodiscard]] static std::string parted_key(std::uint32_t rank) { return fmt::format("shm/left/{}", rank); }
  [[nodiscard]] static std::string ready_key(std::uint32_t rank) { return fmt::format("shm/ready/{}", rank); }

  Result<HostGroup> meet() {
    HOCKET_TRY(job_.store->set(wish_key(me().rank), fmt::format("{} {}", wish_, my_host()), deadline_));
    HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> ranks, ranks_of_host());
    if (!through_memory(wish_) || ranks.size() == 1) return HostGroup{};
    HOCKET_TRY_ASSIGN(std::shared_ptr<ShmSegment> segment, come(ranks));
    HOCKET_TRY_ASSIGN(const std::string refusal, hear(ranks));
    if (wish_ == "shm" && !refusal.empty()) return fail(Code::kUnsupported, "no shared memory: {}", refusal);
    if (!refusal.empty()) return HostGroup{};
    segment->close_door();
    return HostGroup{ranks, std::move(segment)};
  }

  /// From what all ranks have said.
  Result<std::vector<std::uint32_t>> ranks_of_host() {
    const std::string mine = my_host();
    std::vector<std::uint32_t> ranks;
    std::string elsewhere;
    std::string host_of_first;
    for (const Member& member : job_.members) {
      HOCKET_TRY_ASSIGN(const std::string words, await(wish_key(member.rank), member));
      std::string_view host = words;
      const std::string_view theirs = take_word(host);
      if (theirs != wish_)
        return fail(Code::kMismatch, "{} wants transport {}, {} wants {}", me().text(), wish_, member.text(), theirs);
      if (host == mine) ranks.push_back(member.rank);
      if (member.rank == 0) host_of_first = host;
      if (host != host_of_first && elsewhere.empty())
        elsewhere = fmt::format("{} runs on host {}, rank 0 on host {}", member.text(), host, host_of_first);
    }
    if (wish_ == "shm" && !elsewhere.empty()) return fail(Code::kUnsupported, "no shared memory: {}", elsewhere);
    return ranks;
  }

  /// What the first of these could not do; empty when all could.
  Result<std::string> hear(const std::vector<std::uint32_t>& ranks) {
    std::string refusal;
    for (const std::uint32_t rank : ranks) {
      HOCKET_TRY_ASSIGN(const std::string words, await(ready_key(rank), job_.members[rank]));
      if (!words.empty() && refusal.empty()) refusal = fmt::format("{}: {}", job_.members[rank].text(), words);
    }
    return refusal;
  }

  /// Rank 0 has the store: it goes when the others have read what they need for an error of their own.
  void leave_together() {
    const SteadyTime until = std::min(deadline_, steady_clock::now() + kFarewell);
    if (me().rank != 0) static_cast<void>(job_.store->note(parted_key(me().rank), "", until));
    for (std::uint32_t rank = 1; rank < job_.launch.size && me().rank == 0; ++rank) await_parting(rank, until);
  }

  /// That it has read what it needs, or is gone.
  void await_parting(std::uint32_t rank, SteadyTime until) {
    for (SteadyTime slice; slice < until;) {
      const auto gone = job_.store->get(gone_key(rank), steady_clock::now());
      if (!gone || *gone) return;
      slice = std::min(until, steady_clock::now() + kSlice);
      const auto parted = job_.store->get(parted_key(rank), slice);
      if (!parted || *parted) return;
    }
  }

  /// Makes or maps the segment of these ranks; an obstacle is an answer, not an error, and gives null.
  Result<std::shared_ptr<ShmSegment>> come(const std::vector<std::uint32_t>& ranks) {
    Result<std::shared_ptr<ShmSegment>> segment;
    const auto size = static_cast<std::uint32_t>(ranks.size());
    if (me().rank == ranks.front()) {
      segment = ShmSegment::create(size);
      const std::string place = segment ? fmt::format("{} {}", text_of((*segment)->token()), (*segment)->where()) : "";
      HOCKET_TRY(job_.store->set(place_key(me().rank), place, deadline_));
    } else {
      HOCKET_TRY_ASSIGN(const std::string place, await(place_key(ranks.front()), job_.members[ranks.front()]));
      segment = map(place, ranks.front(), size);
    }
    HOCKET_TRY(job_.store->set(ready_key(me().rank), segment ? "" : segment.error().text, deadline_));
    return segment ? std::move(*segment) : nullptr;
  }

  [[nodiscard]] Result<std::shared_ptr<ShmSegment>> map(std::string_view place, std::uint32_t first,
                                                        std::uint32_t size) const {
    if (place.empty()) return fail(Code::kUnsupported, "rank {} has none to map", first);
    const std::optional<Nonce> token = token_of(take_word(place));
    if (!token) return fail(Code::kMalformed, "rank {} left word of shared memory that makes no sense", first);
    return ShmSegment::map(std::string(place), *token, size);
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
};

}  // namespace

std::optional<std::string> named_host(std::uint32_t rank) {
  const char* said = std::getenv("HOCKET_HOSTID");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (said == nullptr || *said == '\0') return std::nullopt;
  return word_for(rank, said);
}

Result<HostGroup> meet_in_memory(Job& job, const std::string& wish, SteadyTime deadline) {
  if (job.launch.size > 1) return Meeting(job, wish, deadline).run();
  if (!through_memory(wish)) return HostGroup{};
  Result<std::shared_ptr<ShmSegment>> segment = ShmSegment::create(1);
  if (!segment && wish == "auto") return HostGroup{};
  if (!segment) return fail(segment.error().code, "{}", segment.error().text);
  return HostGroup{{0}, std::move(*segment)};
}

}  // namespace hocket
