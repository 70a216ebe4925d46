#include "transport/pair.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "net/socket.h"
#include "transport/shm/shm_rank.h"
#include "transport/tcp/tcp_rank.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Of a wait, after which it is asked whether it makes sense still.
constexpr std::chrono::milliseconds kSlice{100};
/// That the end of a process may take, from where its files are gone to where its connections are.
constexpr std::chrono::milliseconds kEnding{20};

/// What one end says to the other, as it travels: where the segment is, that it is mapped, or why there is none.
struct PairWord {
  std::array<char, 8> answer{};
  Nonce token{};
  std::array<char, 216> text{};  // ends with 0
};
static_assert(sizeof(PairWord) == 256);
constexpr std::string_view kYes = "memory";

PairWord word_of(bool yes, const std::string& text) {
  PairWord word;
  if (yes) kYes.copy(word.answer.data(), word.answer.size());
  text.copy(word.text.data(), word.text.size() - 1);
  return word;
}

bool agrees(const PairWord& word) { return word.answer.data() == kYes; }

class PairMeeting {
 public:
  PairMeeting(const PairEnds& ends, const Descriptor& link, SteadyTime deadline,
              const std::function<Result<void>()>& still)
      : ends_(ends), link_(link), deadline_(deadline), still_(still) {}

  /// The segment, or null and obstacle().
  Result<std::shared_ptr<ShmSegment>> run() {
    if (ends_.rank == 0) return offer();
    return accept();
  }
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

 private:
  Result<std::shared_ptr<ShmSegment>> offer() {
    auto segment = ShmSegment::create(2, ShmSegment::Use::kMessages);
    PairWord mine = word_of(segment.has_value(), segment ? (*segment)->where() : segment.error().text);
    if (segment) mine.token = (*segment)->token();
    HOCKET_TRY(say(mine));
    if (!segment) return refused(0, mine);
    HOCKET_TRY_ASSIGN(const PairWord theirs, hear());
    if (!agrees(theirs)) return refused(1, theirs);
    (*segment)->close_door();
    return segment;
  }

  Result<std::shared_ptr<ShmSegment>> accept() {
    HOCKET_TRY_ASSIGN(const PairWord theirs, hear());
    if (!agrees(theirs)) return refused(0, theirs);
    auto segment = ShmSegment::map(theirs.text.data(), theirs.token, 2, ShmSegment::Use::kMessages);
    if (!segment) HOCKET_TRY(check_alive());
    const PairWord mine = word_of(segment.has_value(), segment ? "" : segment.error().text);
    HOCKET_TRY(say(mine));
    if (!segment) return refused(1, mine);
    return segment;
  }

  std::shared_ptr<ShmSegment> refused(std::size_t by, const PairWord& word) {
    obstacle_ = fmt::format("{}: {}", ends_.names[by], word.text.data());
    return nullptr;
  }

  Result<void> say(const PairWord& word) {
    return named(write_all(link_, std::as_bytes(std::span(&word, 1)), deadline_));
  }

  Result<PairWord> hear() {
    pollfd ready{link_.get(), POLLIN, 0};
    while (wait_for({&ready, 1}, std::min(deadline_, steady_clock::now() + kSlice)) == 0) HOCKET_TRY(still_());
    PairWord word;
    HOCKET_TRY(named(read_exactly(link_, std::as_writable_bytes(std::span(&word, 1)), deadline_)));
    word.text.back() = '\0';
    word.answer.back() = '\0';
    return word;
  }

  /// The memory of a sender goes with its process, whose connection ends then. One that lives waits, and says nothing.
  [[nodiscard]] Result<void> check_alive() const {
    pollfd ready{link_.get(), POLLIN, 0};
    char next = 0;
    const bool ended = wait_for({&ready, 1}, std::min(deadline_, steady_clock::now() + kEnding)) > 0 &&
                       ::recv(link_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
    return ended ? named(fail(Code::kPeerFailed, "the connection was closed")) : Result<void>{};
  }

  [[nodiscard]] Result<void> named(const Result<void>& result) const {
    if (result) return {};
    return fail(result.error().code, "{} lost {}: {}", ends_.names[ends_.rank], ends_.names[1 - ends_.rank],
                result.error().text);
  }

  const PairEnds& ends_;
  const Descriptor& link_;
  SteadyTime deadline_;
  const std::function<Result<void>()>& still_;
  std::string obstacle_;
};

}  // namespace

Result<OpenPair> open_pair(const PairEnds& ends, Descriptor link, SteadyTime deadline,
                           const std::function<Result<void>()>& still) {
  OpenPair made;
  std::shared_ptr<ShmSegment> segment;
  if (ends.way != PairEnds::Way::kTcp) {
    PairMeeting meeting(ends, link, deadline, still);
    HOCKET_TRY_ASSIGN(segment, meeting.run());
    made.obstacle = meeting.obstacle();
  }
  if (!segment && ends.way == PairEnds::Way::kMemoryOnly)
    return fail(Code::kUnsupported, "no shared memory for messages from {} to {}: {}", ends.names[0], ends.names[1],
                made.obstacle);
  std::vector<Descriptor> links(2);
  links[1 - ends.rank] = std::move(link);
  std::unique_ptr<StreamRank> transport;
  if (segment) {
    made.name = "shm";
    transport =
        ShmRank::make(ends.rank, ends.names, std::move(segment), std::move(links), {.lends = ends.lends, .wake = {}});
  } else {
    made.name = "tcp";
    HOCKET_TRY_ASSIGN(transport, TcpRank::make(ends.rank, ends.names, std::move(links)));
  }
  transport->carry_messages();
  transport->set_witness(ends.witness);
  made.transport = std::move(transport);
  return made;
}

}  // namespace hocket
