// Messages between two ranks, and new communicators made of ranks of this one.
#include <algorithm>
#include <cstring>
#include <sstream>
#include <thread>

#include <fmt/ranges.h>

#include "api/core.h"
#include "base/circle.h"
#include "base/listing.h"
#include "transport/pair.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{2};  // between two looks for a key
constexpr milliseconds kHearsay{500};
constexpr milliseconds kSoon{50};    // for what only words errors
constexpr milliseconds kSlice{100};  // of a wait, after which it is asked whether it makes sense still
/// Connections of messages, told apart from those of collectives.
constexpr std::uint32_t kMessageLane = 1;
constexpr std::size_t kWordBytes = 128;      // of an endpoint that is shared, or of why there is none
constexpr std::string_view kObstacle = "!";  // before the latter

Result<Descriptor> claimed_by(Gate& gate, std::uint32_t rank) {
  for (Guest& guest : gate.admit()) {
    const Claim& claim = guest.peer.claim();
    if (claim.purpose == Claim::Purpose::kLink && claim.rank == rank && claim.lane == kMessageLane)
      return std::move(guest.socket);
  }
  return Descriptor();
}

/// A key of the store is set once: every change of what a rank waits for has its own, up to so many.
constexpr std::size_t kNotesMax = 32;

std::string waits_key(std::uint32_t rank, std::size_t note) { return fmt::format("waits/{}/{}", rank, note); }

std::string hex_of(const Proof& proof) {
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(proof[i]));
  return text;
}

}  // namespace

Result<std::uint32_t> CommunicatorCore::queue_of_messages(std::uint32_t from, std::uint32_t to) {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = messages_.try_emplace({from, to}, static_cast<std::uint32_t>(queues_.size()));
  if (!fresh) return found->second;
  QueueOptions options{
      .rank = from == rank() ? 0U : 1U,
      .driver = settings_.driver,
      .progress = settings_.progress == ProgressMode::kDedicated ? ProgressMode::kDedicated : ProgressMode::kShared,
      .cost = settings_.cost,
      .source = is_near(from == rank() ? to : from) ? &*near_pair_source_ : &*far_pair_source_,
      .log = log_,
      .name = fmt::format("message from rank {} to rank {}", from, to)};
  options.driver.called = {from, to};
  watchers_.push_back(std::make_unique<MessageWatcher>(*this, from == rank() ? to : from));
  options.driver.watcher = watchers_.back().get();
  queues_.push_back(std::make_unique<CallQueue>(
      std::move(options), [this, from, to](SteadyTime deadline) { return connect(from, to, deadline); }, failure_,
      [this] { spread(); }));
  return found->second;
}

Result<std::unique_ptr<RankTransport>> CommunicatorCore::connect(std::uint32_t from, std::uint32_t to,
                                                                 SteadyTime deadline) {
  const std::string key = fmt::format("message/{}/{}", from, to);
  const bool sends = from == rank();
  const std::uint32_t peer = sends ? to : from;
  note_wait({peer, false}, true);
  Result<Descriptor> link = sends ? await_receiver(key, to, deadline) : reach_sender(key, from, deadline);
  if (link) note_wait({peer, false}, false);  // otherwise it stands, for the other ranks' errors
  if (!link) return tl::unexpected<Error>(explained(link.error()));
  using Way = PairEnds::Way;
  const bool insists = settings_.transport.name == "shm";
  const PairEnds ends{.rank = sends ? 0U : 1U,
                      .names = {job_.members[from].text(), job_.members[to].text()},
                      .way = !is_near(peer) ? Way::kTcp
                             : insists      ? Way::kMemoryOnly
                                            : Way::kMemory,
                      .lends = settings_.transport.lends,
                      .witness = make_witness(job_)};
  Result<OpenPair> pair =
      open_pair(ends, std::move(*link), deadline, [this, peer, deadline] { return check_peer(peer, deadline); });
  if (!pair) return tl::unexpected<Error>(explained(pair.error()));
  log_.print(DebugLevel::kMeeting, "messages from rank {} to rank {} go through {}{}", from, to, pair->name,
             pair->obstacle.empty() ? "" : fmt::format(": no shared memory: {}", pair->obstacle));
  return std::move(pair->transport);
}

bool CommunicatorCore::is_near(std::uint32_t peer) const {
  return std::binary_search(near_.begin(), near_.end(), peer);
}

/// A peer, or the store, goes when its rank has failed; why, the connections of the collectives tell a moment later, to
/// whoever runs one, or here.
Error CommunicatorCore::explained(const Error& error) {
  const SteadyTime until = steady_clock::now() + kHearsay;
  while (error.code == Code::kPeerFailed && !failure_.set() && steady_clock::now() < until) {
    queue(0).listen(until);
    std::this_thread::sleep_for(kLook);
  }
  return failure_.set() ? failure_.error() : error;
}

/// What other ranks say of a failure comes over the connections of the collectives too, which nobody may read
/// meanwhile: who listens there passes over the calls of ranks that are ahead.
Result<void> CommunicatorCore::check_peer(std::uint32_t peer, SteadyTime deadline) {
  if (failure_.set()) return tl::unexpected<Error>(failure_.error());
  const std::shared_ptr<Witness> witness = make_witness(job_);
  const std::optional<Error> told = witness ? witness->ask().told : std::nullopt;
  if (told) return fail(told->code, "{} was told: {}", own_name(), told->text);
  if (steady_clock::now() >= deadline) {
    const std::string chain = chain_or_cause(peer);
    return fail(Code::kTimeout, "{}: no connection in time with {}{}", own_name(), job_.members[peer].text(),
                chain.empty() ? "" : "; " + chain);
  }
  const std::lock_guard lock(store_mutex_);
  HOCKET_TRY_ASSIGN(const auto gone, seen_in_time(gone_key(peer)));
  HOCKET_TRY_ASSIGN(const auto left, seen_in_time(left_key(peer)));
  if (left) return left_because_of(peer);
  if (gone) return fail(Code::kPeerFailed, "{} lost {}", own_name(), job_.members[peer].text());
  return {};
}

/// A rank may have left in order because another has died. Under the store's lock.
Result<void> CommunicatorCore::left_because_of(std::uint32_t peer) {
  for (const Member& member : job_.members) {
    HOCKET_TRY_ASSIGN(const auto gone, seen_in_time(gone_key(member.rank)));
    if (!gone) continue;
    HOCKET_TRY_ASSIGN(const auto left, seen_in_time(left_key(member.rank)));
    if (!left)
      return fail(Code::kPeerFailed, "{} lost {}, and {} has left", own_name(), member.text(),
                  job_.members[peer].text());
  }
  return fail(Code::kMismatch, "{}: {} has left", own_name(), job_.members[peer].text());
}

/// A wait is noted only when there is room for its end too.
void CommunicatorCore::note_wait(Wait wait, bool waits) {
  const std::lock_guard lock(store_mutex_);
  if (!job_.store) return;
  if (waits) {
    if (notes_ + waits_.size() + 2 > kNotesMax) return;
    waits_.insert(wait);
  } else {
    const auto found = waits_.find(wait);
    if (found == waits_.end()) return;
    waits_.erase(found);
  }
  std::string words;
  for (const Wait& w : waits_) words += fmt::format("{}{} ", w.in_collective ? 'c' : 'm', w.peer);
  // Only errors are worded by it: that it cannot be noted is none.
  [[maybe_unused]] const auto noted =
      job_.store->note(waits_key(rank(), notes_++), std::move(words), steady_clock::now() + kSoon);
}

/// Under the store's lock.
Result<std::vector<CommunicatorCore::Wait>> CommunicatorCore::last_note_of(std::uint32_t peer) {
  std::string last;
  for (std::size_t note = 0; note < kNotesMax; ++note) {
    HOCKET_TRY_ASSIGN(auto words, job_.store->look(waits_key(peer, note), steady_clock::now() + kSoon));
    if (!words) break;
    last = std::move(*words);
  }
  std::istringstream words(last);
  std::vector<Wait> waits;
  char kind = 0;
  for (std::uint32_t next = 0; words >> kind >> next;) {
    if (next < size() && next != peer) waits.push_back({next, kind == 'c'});
  }
  return waits;
}

/// Who waits for several is followed to all of them: to this rank, else to the first that has not said that it waits.
Result<std::string> CommunicatorCore::chain_through(std::uint32_t peer) {
  HOCKET_TRY_ASSIGN(const WaitWalk walk, walk_from(peer));
  std::vector<std::string> names;
  names.reserve(walk.ranks.size());
  for (const std::uint32_t r : walk.ranks) names.push_back(job_.members[r].text());
  if (walk.circle) return circle_text(names);
  return names.empty() ? std::string() : chain_text(names) + ", of which no wait is known";
}

std::string CommunicatorCore::chain_by_message(std::uint32_t peer) {
  const Result<WaitWalk> walk = walk_from(peer);
  if (!walk || !walk->by_message) return {};
  return chain_through(peer).value_or("");
}

Result<CommunicatorCore::WaitWalk> CommunicatorCore::walk_from(std::uint32_t peer) {
  const std::lock_guard lock(store_mutex_);
  WaitWalk walk;
  std::map<std::uint32_t, std::uint32_t> reached_from{{peer, rank()}};
  std::map<std::uint32_t, std::uint32_t> first_wait;
  std::vector<std::uint32_t> open{peer};
  std::optional<std::uint32_t> end;
  for (std::size_t i = 0; i < open.size(); ++i) {
    HOCKET_TRY_ASSIGN(const std::vector<Wait> waits, last_note_of(open[i]));
    if (waits.empty() && !end) end = open[i];
    for (const Wait& wait : waits) {
      first_wait.try_emplace(open[i], wait.peer);
      walk.by_message = walk.by_message || !wait.in_collective;
      if (reached_from.try_emplace(wait.peer, open[i]).second) open.push_back(wait.peer);
    }
  }
  walk.circle = reached_from.contains(rank()) || !end;
  if (walk.circle && !reached_from.contains(rank())) {  // all that were reached wait for each other
    std::uint32_t at = peer;
    for (std::size_t i = 0; i < open.size(); ++i) at = first_wait[at];
    for (std::uint32_t next = at; walk.ranks.empty() || next != at; next = first_wait[next]) walk.ranks.push_back(next);
    return walk;
  }
  if (!walk.circle && *end == peer) return walk;
  for (std::uint32_t at = walk.circle ? reached_from[rank()] : *end; at != rank(); at = reached_from[at])
    walk.ranks.insert(walk.ranks.begin(), at);
  walk.ranks.insert(walk.ranks.begin(), rank());
  return walk;
}

std::string CommunicatorCore::chain_or_cause(std::uint32_t peer) {
  Result<std::string> chain = chain_through(peer);
  if (chain) return *chain;
  if (chain.error().code == Code::kTimeout) return silent_store();
  return explained(chain.error()).text;
}

std::string CommunicatorCore::silent_store() const {
  return fmt::format("{}, which keeps what ranks say of each other, does not answer", job_.members.front().text());
}

/// A store that does not answer has nothing to say; the wait goes on until its deadline.
Result<std::optional<std::string>> CommunicatorCore::seen_in_time(const std::string& key) {
  auto words = job_.store->look(key, steady_clock::now() + kSoon);
  if (!words && words.error().code == Code::kTimeout) return std::optional<std::string>();
  return words;
}

Result<Descriptor> CommunicatorCore::await_receiver(const std::string& key, std::uint32_t to, SteadyTime deadline) {
  const Address where = job_.members[rank()].address;
  HOCKET_TRY_ASSIGN(Descriptor listener, listen_in(settings_.rendezvous.ports, where, size()));
  Gate gate(std::move(listener), *job_.secret);
  HOCKET_TRY_ASSIGN(const Address address, gate.address());
  {
    const std::lock_guard lock(store_mutex_);
    if (Result<void> said = job_.store->note(key, address.text(), deadline); !said)
      return fail(said.error().code, "{}: {}", own_name(),
                  said.error().code == Code::kTimeout ? silent_store() : said.error().text);
  }
  for (;;) {
    HOCKET_TRY_ASSIGN(Descriptor link, claimed_by(gate, to));
    if (link.open()) return link;
    std::vector<pollfd> waits;
    gate.append_waits(waits);
    const SteadyTime slice = std::min(deadline, steady_clock::now() + kSlice);
    if (wait_for(waits, gate.next_deadline(slice)) > 0) continue;
    if (Result<void> well = check_peer(to, deadline); !well)
      return fail(well.error().code, "{}{}", well.error().text, gate.hindrance());
  }
}

Result<Descriptor> CommunicatorCore::reach_sender(const std::string& key, std::uint32_t from, SteadyTime deadline) {
  SteadyTime check_at = steady_clock::now() + kSlice;
  for (;;) {
    std::optional<std::string> words;
    {
      const std::lock_guard lock(store_mutex_);
      HOCKET_TRY_ASSIGN(words, seen_in_time(key));
    }
    if (words) {
      HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(*words));
      HOCKET_TRY_ASSIGN(const Address address, resolve(endpoint));
      return enter(address, *job_.secret, {Claim::Purpose::kLink, rank(), kMessageLane}, deadline,
                   Approach{.patience = Patience::kItListens});
    }
    if (steady_clock::now() >= check_at) {
      HOCKET_TRY(check_peer(from, deadline));
      check_at = steady_clock::now() + kSlice;
    }
    std::this_thread::sleep_for(kLook);
  }
}

Result<void> CommunicatorCore::share(std::span<const std::byte> mine, std::span<std::byte> all) {
  HOCKET_TRY(check_usable());
  QueuedCall queued;
  queued.what = {
      {CollectiveKind::kAllGather, size(), 0}, static_cast<std::int64_t>(all.size()), DataType::kU8, ReduceOp::kSum};
  queued.internal = true;
  queued.part_of = "split";
  queued.buffers = {mine.data(), all.data()};
  return queues_.front()->run(queued);
}

/// What the ranks of a part begin with; the first of them is rank 0 there.
Settings CommunicatorCore::settings_of(std::vector<std::uint32_t> ranks, std::string source) {
  Settings made = settings_;
  made.plan_file = ranks.size() == size() ? settings_.plan_file : "";
  made.topology_ranks.clear();
  if (!settings_.topology.empty()) {
    const std::vector<std::uint32_t>& before = settings_.topology_ranks;
    for (const std::uint32_t r : ranks) made.topology_ranks.push_back(before.empty() ? r : before[r]);
  }
  const auto self = std::find(ranks.begin(), ranks.end(), rank());
  Launch& launch = made.rendezvous.launch;
  launch = {.rank = static_cast<std::uint32_t>(self - ranks.begin()),
            .size = static_cast<std::uint32_t>(ranks.size()),
            .source = std::move(source),
            .root = {},
            .job = {},
            .launched_as = job_.launch.launched_as.value_or(rank())};
  const bool together = std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t r) {
    return job_.members[r].host == job_.members[ranks.front()].host;
  });
  if (together) {
    launch.local_rank = launch.rank;
    launch.local_size = launch.size;
  }
  made.rendezvous.cables = {};  // they name the ranks of before
  made.transport.by_cable = false;
  made.rendezvous.listener = -1;
  made.rendezvous.secret = job_.secret == nullptr ? "" : job_.secret->text();
  made.rendezvous.deadline = steady_clock::now() + settings_.driver.timeout;
  for (const std::uint32_t r : ranks) made.rendezvous.before.names.push_back(job_.members[r].text());
  made.rendezvous.before.check = [this, ranks] { return check_partners(ranks); };
  return made;
}

/// A rank leaves its old communicator only when all have met in the new one: whose connection has ended will not come.
Result<void> CommunicatorCore::check_partners(const std::vector<std::uint32_t>& ranks) {
  std::string names;
  std::size_t count = 0;
  for (const std::uint32_t r : ranks) {
    if (!queue(0).has_gone(r) || ++count > kListedMax) continue;
    names += (names.empty() ? "" : ", ") + job_.members[r].text();
  }
  if (count == 0) return {};
  return fail(Code::kPeerFailed, "{} lost {}{} before all ranks were connected", own_name(), names, and_more(count));
}

/// The first rank of every part listens, and all hear where: or why a rank cannot come, before others wait for it.
Result<std::string> CommunicatorCore::place_of_part(const std::vector<std::uint32_t>& ranks, Descriptor& listener) {
  if (ranks.size() < 2) return "";
  HOCKET_TRY(check_descriptors_for(settings_of(ranks, {}).rendezvous));
  if (ranks.front() != rank()) return "";
  HOCKET_TRY_ASSIGN(listener, listen_in(settings_.rendezvous.ports, job_.members[rank()].address, size()));
  HOCKET_TRY_ASSIGN(const Address address, local_address(listener));
  return address.text();
}

Result<std::unique_ptr<Settings>> CommunicatorCore::split(std::optional<std::uint32_t> color, std::int64_t key) {
  struct Wish {
    std::uint64_t colored = 0;
    std::uint64_t color = 0;
    std::int64_t key = 0;
  };
  const Wish wish{color ? 1U : 0U, color.value_or(0), key};
  std::vector<Wish> wishes(size());
  HOCKET_TRY(share(std::as_bytes(std::span(&wish, 1)), std::as_writable_bytes(std::span(wishes))));
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < size(); ++r) {
    if (wishes[r].colored != 0 && color && wishes[r].color == *color) ranks.push_back(r);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&wishes](std::uint32_t a, std::uint32_t b) { return wishes[a].key < wishes[b].key; });
  Descriptor listener;
  const Result<std::string> word = place_of_part(ranks, listener);
  std::array<char, kWordBytes> mine{};
  (word ? *word : std::string(kObstacle) + word.error().text).copy(mine.data(), mine.size() - 1);
  std::vector<std::array<char, kWordBytes>> all(size());
  HOCKET_TRY(share(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))));
  if (!color) return nullptr;
  for (const std::uint32_t r : ranks) {
    const std::string_view said(all[r].data());
    if (said.starts_with(kObstacle))
      return fail(Code::kResourceExhausted, "{}: no new communicator: {}: {}", own_name(), job_.members[r].text(),
                  said.substr(kObstacle.size()));
  }
  auto made = std::make_unique<Settings>(settings_of(ranks, fmt::format("part {} of {} ranks", *color, size())));
  made->rendezvous.launch.root = all[ranks.front()].data();
  made->rendezvous.listener = listener.release();
  return made;
}

Result<Settings> CommunicatorCore::shrink(std::span<const std::uint32_t> lost) {
  if (mark_.is_child()) HOCKET_TRY(check_usable());
  for (const std::uint32_t r : lost) {
    if (r >= size())
      return fail(Code::kInvalidArgument, "{}: shrink without rank {}, which is not below the {} ranks", own_name(), r,
                  size());
  }
  std::vector<std::uint32_t> ranks;
  std::string names;
  for (std::uint32_t r = 0; r < size(); ++r) {
    if (std::find(lost.begin(), lost.end(), r) == lost.end()) {
      ranks.push_back(r);
    } else {
      names += fmt::format("-{}", r);
    }
  }
  if (std::find(ranks.begin(), ranks.end(), rank()) == ranks.end())
    return fail(Code::kInvalidArgument, "{}: is among the ranks that are lost", own_name());
  Settings made = settings_of(ranks, fmt::format("what is left of {} ranks", size()));
  if (ranks.size() == 1) return made;
  if (made.rendezvous.launch.local_size == 0)
    return fail(Code::kUnsupported,
                "{}: the ranks that are left are on several hosts: make a communicator with rank, size and root",
                own_name());
  // Its private file is named after the job, which only its ranks know, and after who is gone.
  made.rendezvous.launch.job = hex_of(job_.secret->prove(std::as_bytes(std::span(names)))) + "-without" + names;
  made.rendezvous.secret.clear();
  return made;
}

}  // namespace hocket
