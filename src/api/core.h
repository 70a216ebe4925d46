// CommunicatorCore: what a Communicator and its Works share: the job, the queue of the collectives, a queue for every
// direction of messages between two ranks that was used, and the one failure that ends them all.
// A message is a broadcast over two ranks, proved as every plan is, over a connection, or memory, of its own that is
// made when first needed. Gather, scatter and all-to-all-v are messages together with an all-gather of what each rank
// believes it calls. Ownership: everything but the caller's buffers. Threading: any thread. Refuses: calls that do not
// fit the communicator, before anything is sent.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "api/call_queue.h"
#include "api/fork_mark.h"
#include "api/obituary.h"

namespace hocket {

class CommunicatorCore : public std::enable_shared_from_this<CommunicatorCore> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<CommunicatorCore>> open(Settings settings);
  /// Of ranks that have met.
  [[nodiscard]] static Result<std::shared_ptr<CommunicatorCore>> open(Settings settings, Job job);
  /// For a tool, which has read its settings and met by itself.
  [[nodiscard]] static Result<Communicator> communicator(Settings settings, Job job);
  ~CommunicatorCore();

  [[nodiscard]] std::uint32_t rank() const { return job_.launch.rank; }
  [[nodiscard]] std::uint32_t size() const { return job_.launch.size; }
  [[nodiscard]] bool in_child() const { return mark_.is_child(); }

  [[nodiscard]] Result<void> run(const Call& call);
  [[nodiscard]] Result<Work> start(std::span<const Call> calls);
  [[nodiscard]] Result<PersistentCall> prepare(const Call& call);
  [[nodiscard]] Result<void> run_prepared(const PersistentCall& call, const RankBuffers& buffers);
  [[nodiscard]] Result<Work> start_prepared(const PersistentCall& call, const RankBuffers& buffers);

  /// What a rank of a new communicator begins with; null for ranks without a colour.
  [[nodiscard]] Result<std::unique_ptr<Settings>> split(std::optional<std::uint32_t> color, std::int64_t key);
  [[nodiscard]] Result<Settings> shrink(std::span<const std::uint32_t> lost);
  /// Of a new communicator of ranks of this one that was not made: whose death was the cause, as this one knows it.
  [[nodiscard]] Error cause_of(const Error& error);
  /// Whether those that are not lost can meet through a private file: hosts of one name may be several.
  [[nodiscard]] Result<void> check_together(std::span<const std::uint32_t> lost) const;

  [[nodiscard]] bool over(Work::Ticket ticket, SteadyTime until) {
    return queue(ticket.queue).over(ticket.slot, until);
  }
  [[nodiscard]] Result<void> release(Work::Ticket ticket) { return queue(ticket.queue).release(ticket.slot); }

  [[nodiscard]] Result<void> register_memory(const void* begin);
  [[nodiscard]] Result<void> deregister_memory(const void* begin);

  /// Finishes what was started and leaves; what was started can still be waited for, nothing more can be started.
  void leave();
  void abort(std::string_view reason);
  [[nodiscard]] ProgressCounters counters();
  /// Set only when all ranks have been told.
  [[nodiscard]] std::optional<Error> failure();

 private:
  struct Part {
    std::uint32_t queue = 0;
    QueuedCall call;
  };
  using Parts = std::vector<Part>;
  /// Of the messages between this rank and `peer`.
  struct MessageWatcher final : WaitWatcher {
    MessageWatcher(CommunicatorCore& owner, std::uint32_t other) : core(&owner), peer(other) {}
    void waits(std::uint32_t /*waits_for*/) override { core->note_wait({peer, false}, true); }
    void waits_no_more() override { core->note_wait({peer, false}, false); }
    [[nodiscard]] std::string chain(std::uint32_t /*waits_for*/) override { return core->chain_or_cause(peer); }
    CommunicatorCore* core;
    std::uint32_t peer;
  };
  /// Of the collectives: what holds one up may be a message that a rank waits for, which only the notes tell.
  struct CollectiveWatcher final : WaitWatcher {
    explicit CollectiveWatcher(CommunicatorCore& owner) : core(&owner) {}
    void waits(std::uint32_t waits_for) override { core->note_wait({peer = waits_for, true}, true); }
    void waits_no_more() override { core->note_wait({peer, true}, false); }
    [[nodiscard]] std::string chain(std::uint32_t waits_for) override { return core->chain_by_message(waits_for); }
    CommunicatorCore* core;
    std::uint32_t peer = 0;
  };
  /// What a rank says that it waits for.
  struct Wait {
    std::uint32_t peer = 0;
    bool in_collective = false;  // otherwise for its half of a message
    auto operator<=>(const Wait&) const = default;
  };

  CommunicatorCore(Settings settings, Job job) : settings_(std::move(settings)), job_(std::move(job)) {}
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> check_usable();
  [[nodiscard]] std::string own_name() const { return job_.members[rank()].text(); }

  /// What of a call is right or wrong whatever the ranks and counts are.
  [[nodiscard]] Result<void> check_words(const Call& call) const;
  [[nodiscard]] Result<QueuedCall> planned(const Call& call) const;
  [[nodiscard]] Result<void> check_buffers(const Call& call, const BoundCollective& what) const;
  [[nodiscard]] Result<QueuedCall> prepared(const PersistentCall& call, const RankBuffers& buffers);
  [[nodiscard]] Result<void> append(const Call& call, Parts& parts, std::vector<const Call*>& to_self);
  [[nodiscard]] Result<Part> message_of(const Call& call, bool sends);
  [[nodiscard]] Result<void> append_message(const Call& call, bool sends, Parts& parts);
  [[nodiscard]] Result<void> append_rooted(const Call& call, Parts& parts);
  [[nodiscard]] Result<void> append_all_gather_v(const Call& call, Parts& parts) const;
  [[nodiscard]] Result<void> append_all_to_all_v(const Call& call, Parts& parts);
  [[nodiscard]] Result<void> check_apart(const Call& call) const;
  [[nodiscard]] QueuedCall agreement(const Call& call, std::int64_t count) const;
  [[nodiscard]] Result<void> copy_to_self(const std::vector<const Call*>& calls) const;
  [[nodiscard]] Result<Work> start_parts(Parts& parts);
  [[nodiscard]] Result<void> check_room(const Parts& parts);
  [[nodiscard]] Result<std::uint32_t> queue_of_messages(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] CallQueue& queue(std::uint32_t index);
  [[nodiscard]] bool is_near(std::uint32_t peer) const;

  /// Of messages from one rank to another: the sender listens, the store says where; through memory where collectives
  /// take that way between the two.
  [[nodiscard]] Result<std::unique_ptr<RankTransport>> connect(std::uint32_t from, std::uint32_t to,
                                                               SteadyTime deadline);
  [[nodiscard]] Result<Descriptor> await_receiver(const std::string& key, std::uint32_t to, SteadyTime deadline);
  [[nodiscard]] Result<Descriptor> reach_sender(const std::string& key, std::uint32_t from, SteadyTime deadline);
  [[nodiscard]] Error explained(const Error& error);
  [[nodiscard]] Result<void> check_peer(std::uint32_t peer, SteadyTime deadline);
  [[nodiscard]] Result<void> left_because_of(std::uint32_t peer);
  /// What all ranks may read: this rank waits so, or no longer.
  void note_wait(Wait wait, bool waits);
  /// For whom `peer`, for which this rank waits, waits itself, and so on: a circle when that leads back to this rank,
  /// otherwise up to a rank that has not said that it waits, or a circle of others. Empty when `peer` has not.
  [[nodiscard]] Result<std::string> chain_through(std::uint32_t peer);
  /// The same in numbers.
  struct WaitWalk {
    std::vector<std::uint32_t> ranks;  // from this one on, or those of the circle
    bool circle = false;
    bool by_message = false;  // somebody reached waits for a message
  };
  [[nodiscard]] Result<WaitWalk> walk_from(std::uint32_t peer);
  /// The same; where the ranks' notes cannot be read any more, what is heard instead.
  [[nodiscard]] std::string chain_or_cause(std::uint32_t peer);
  [[nodiscard]] std::string silent_store() const;
  [[nodiscard]] Result<std::optional<std::string>> seen_in_time(const std::string& key);
  /// Empty also when nobody on the way waits for a message: then the collective's own signs of life tell more.
  [[nodiscard]] std::string chain_by_message(std::uint32_t peer);
  /// What it waits for, as it has said last.
  [[nodiscard]] Result<std::vector<Wait>> last_note_of(std::uint32_t peer);
  [[nodiscard]] Result<void> share(std::span<const std::byte> mine, std::span<std::byte> all);
  [[nodiscard]] Result<std::string> place_of_part(const std::vector<std::uint32_t>& ranks, Descriptor& listener);
  [[nodiscard]] Settings settings_of(std::vector<std::uint32_t> ranks, std::string source);
  /// Whether a rank that this one is connected with no longer is.
  [[nodiscard]] bool any_gone();
  /// Whether those of them that this rank is connected with still are.
  [[nodiscard]] Result<void> check_partners(const std::vector<std::uint32_t>& ranks);

  void spread();

  Settings settings_;
  Job job_;
  ForkMark mark_;
  Obituary obituary_{settings_.family, job_, mark_};
  Failure failure_;
  DebugLog log_;
  std::optional<PlanSource> source_;
  std::optional<PlanSource> near_pair_source_;
  std::optional<PlanSource> far_pair_source_;
  std::vector<std::uint32_t> near_;                        // ranks with which collectives talk through memory
  std::mutex store_mutex_;                                 // of the store, and the next two
  std::multiset<Wait> waits_;                              // of this rank
  std::size_t notes_ = 0;                                  // of changes of it, in the store
  mutable std::mutex mutex_;                               // the three below
  std::vector<std::unique_ptr<MessageWatcher>> watchers_;  // of the messages
  CollectiveWatcher collective_watcher_{*this};
  std::vector<std::unique_ptr<CallQueue>> queues_;  // the first: collectives
  std::vector<SharedRange> registered_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> messages_;  // by sender and receiver
};

}  // namespace hocket
