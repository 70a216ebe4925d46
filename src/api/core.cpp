#include "api/core.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "base/units.h"
#include "transport/shared_memory.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// For a last word to the store of rank 0, which may have gone.
constexpr std::chrono::milliseconds kFarewell{100};
/// Until the end of a process shows on all its connections.
constexpr std::chrono::milliseconds kEnding{500};
constexpr std::chrono::milliseconds kLook{2};

/// The text of an error with the names that ranks had in their old communicator; ops keep the numbers of the new one.
std::string as_before(std::string text, const std::vector<Member>& members, const std::vector<std::string>& names) {
  for (const Member& member : members) {
    const std::string name = member.text();  // with host and process, so that no other's is among those put in
    const std::string& old = names[member.rank];
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + old.size()))
      text.replace(at, name.size(), old);
  }
  const bool numbered = text.find(" op ") != std::string::npos;
  return numbered ? text + " (ops are those of the new communicator, and so are their ranks)" : text;
}

}  // namespace

Result<std::shared_ptr<CommunicatorCore>> CommunicatorCore::open(Settings settings) {
  HOCKET_TRY_ASSIGN(Job job, join(settings.rendezvous));
  return open(std::move(settings), std::move(job));
}

Result<Communicator> CommunicatorCore::communicator(Settings settings, Job job) {
  HOCKET_TRY_ASSIGN(std::shared_ptr<CommunicatorCore> core, open(std::move(settings), std::move(job)));
  return Communicator(std::move(core));
}

Result<std::shared_ptr<CommunicatorCore>> CommunicatorCore::open(Settings settings, Job job) {
  const Acquaintance before = std::exchange(settings.rendezvous.before, {});
  const std::shared_ptr<CommunicatorCore> made(new CommunicatorCore(std::move(settings), std::move(job)));
  Result<void> begun = made->begin();
  if (begun) return made;
  if (!before.names.empty()) begun.error().text = as_before(begun.error().text, made->job_.members, before.names);
  return tl::unexpected<Error>(std::move(begun.error()));
}

Result<void> CommunicatorCore::begin() {
  log_ = DebugLog(settings_.debug, own_name());
  log_.print(DebugLevel::kMeeting, "{}", job_.way);
  settings_.driver.name = own_name();
  HOCKET_TRY_ASSIGN(OpenTransport opened, open_transport(job_, settings_.transport, settings_.rendezvous.deadline));
  std::unique_ptr<RankTransport> transport = std::move(opened.transport);
  log_.print(DebugLevel::kMeeting, "talks through {}", opened.name);
  Result<PlanSource> source = read_plan_source(settings_, size(), opened.name);
  if (!source) {
    transport->fail(source.error());
    return tl::unexpected<Error>(std::move(source.error()));
  }
  source_.emplace(std::move(*source));
  if (settings_.topology.empty())
    log_.print(DebugLevel::kMeeting, "no HOCKET_TOPO_FILE: plans {}", meeting_text(source_->meeting, size()));
  near_ = std::move(opened.near);
  HOCKET_TRY_ASSIGN(near_pair_source_, read_plan_source({.topology = {}, .plan_file = {}}, 2, "shm"));
  HOCKET_TRY_ASSIGN(far_pair_source_, read_plan_source({.topology = {}, .plan_file = {}}, 2, "tcp"));
  auto holder = std::make_shared<std::unique_ptr<RankTransport>>(std::move(transport));
  DriverOptions driver = settings_.driver;
  driver.watcher = &collective_watcher_;
  driver.watched_late = true;
  queues_.push_back(std::make_unique<CallQueue>(
      QueueOptions{rank(), driver, settings_.progress, settings_.cost, &*source_, log_, {}},
      [holder](SteadyTime) -> Result<std::unique_ptr<RankTransport>> { return std::move(*holder); }, failure_,
      [this] { spread(); }));
  return run({.operation = Operation::kBarrier});  // nobody goes on before all are connected with all
}

/// Ranks that leave the new communicator for this end there as those do that have died: here they say why. Where nobody
/// has gone this one goes on.
Error CommunicatorCore::cause_of(const Error& error) {
  if (error.code != Code::kPeerFailed) return error;
  const SteadyTime until = steady_clock::now() + kEnding;
  while (!failure_.set() && !any_gone()) {
    if (steady_clock::now() >= until) return error;
    std::this_thread::sleep_for(kLook);
  }
  Error cause = explained(error);
  if (failure_.set()) spread();
  return cause;
}

bool CommunicatorCore::any_gone() {
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (queue(0).has_gone(peer)) return true;
  }
  return false;
}

CommunicatorCore::~CommunicatorCore() {
  leave();
  for (const SharedRange& range : registered_) SharedMemory::count_registrations(range, -1);
}

void CommunicatorCore::leave() {
  // Whoever found a failure may not have told of it yet, and then a leave would look like one in order.
  if (failure_.set()) spread();
  for (const auto& q : queues_) q->close();
  for (const auto& q : queues_) q->leave();
  if (!job_.store || failure_.set()) return;
  // Who waits for this rank hears that it will not come, and others may meet yet through what rank 0 keeps.
  const std::lock_guard lock(store_mutex_);
  [[maybe_unused]] const auto told = job_.store->note(left_key(rank()), "", steady_clock::now() + kFarewell);
  if (job_.server) job_.server->stay();
}

/// Of collectives alone: a message is copied once wherever it lies.
Result<void> CommunicatorCore::register_memory(const void* begin) {
  HOCKET_TRY(check_usable());
  const std::optional<SharedRange> range = SharedMemory::at(begin);
  if (!range) return {};  // calls copy from where it lies
  const std::lock_guard lock(mutex_);
  HOCKET_TRY(queues_.front()->add_memory(*range));
  registered_.push_back(*range);
  SharedMemory::count_registrations(*range, 1);
  return {};
}

Result<void> CommunicatorCore::deregister_memory(const void* begin) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(registered_.begin(), registered_.end(),
                                  [begin](const SharedRange& range) { return range.begin == begin; });
  if (found == registered_.end()) return {};
  queues_.front()->remove_memory(*found);
  SharedMemory::count_registrations(*found, -1);
  registered_.erase(found);
  return {};
}

CallQueue& CommunicatorCore::queue(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  return *queues_[index];
}

/// Returns when every rank that can be told is told; whoever gives a failure to the caller does so after this.
void CommunicatorCore::spread() {
  std::vector<CallQueue*> all;
  {
    const std::lock_guard lock(mutex_);
    all.reserve(queues_.size());
    for (const auto& q : queues_) all.push_back(q.get());
  }
  for (CallQueue* q : all) q->halt();
  if (failure_.set()) obituary_.tell_others(failure_.error());
}

ProgressCounters CommunicatorCore::counters() {
  ProgressCounters sum;
  const std::lock_guard lock(mutex_);
  for (const auto& q : queues_) {
    const ProgressCounters one = q->counters();
    sum.calls += one.calls;
    sum.bytes_sent += one.bytes_sent;
    sum.bytes_received += one.bytes_received;
    sum.bytes_copied += one.bytes_copied;
    sum.bytes_reduced += one.bytes_reduced;
    sum.caller_time += one.caller_time;
    sum.thread_time += one.thread_time;
  }
  return sum;
}

void CommunicatorCore::abort(std::string_view reason) {
  if (in_child()) return;
  failure_.report({Code::kCancelled, fmt::format("{}: aborted: {}", own_name(), reason)});
  spread();
}

Result<void> CommunicatorCore::check_usable() {
  if (mark_.is_child())
    return fail(Code::kUnsupported, "{}: this is a forked child (pid {}): a communicator stays with its process",
                own_name(), ::getpid());
  if (const std::optional<Error> error = failure())
    return fail(error->code, "this communicator has failed: {}", error->text);
  return {};
}

std::optional<Error> CommunicatorCore::failure() {
  if (!failure_.set()) return std::nullopt;
  spread();
  return failure_.error();
}

Result<void> CommunicatorCore::run(const Call& call) {
  HOCKET_TRY(check_usable());
  HOCKET_TRY(check_words(call));
  if (call.operation <= Operation::kAllToAll || call.operation == Operation::kBarrier) {
    HOCKET_TRY_ASSIGN(const QueuedCall queued, planned(call));
    return queues_.front()->run(queued);
  }
  const bool message = call.operation == Operation::kSend || call.operation == Operation::kReceive;
  if (message && call.root != rank()) {
    HOCKET_TRY_ASSIGN(const Part part, message_of(call, call.operation == Operation::kSend));
    return queue(part.queue).run(part.call);
  }
  HOCKET_TRY_ASSIGN(Work work, start({&call, 1}));
  return work.wait();
}

Result<Work> CommunicatorCore::start(std::span<const Call> calls) {
  HOCKET_TRY(check_usable());
  for (const Call& call : calls) HOCKET_TRY(check_words(call));
  Work work;
  work.core_ = shared_from_this();
  if (calls.size() == 1 && calls[0].operation <= Operation::kAllToAll) {  // allocates nothing
    HOCKET_TRY_ASSIGN(const QueuedCall queued, planned(calls[0]));
    HOCKET_TRY_ASSIGN(work.first_.slot, queues_.front()->start(queued));
    work.open_ = true;
    return work;
  }
  Parts parts;
  std::vector<const Call*> to_self;
  for (const Call& call : calls) HOCKET_TRY(append(call, parts, to_self));
  HOCKET_TRY(check_room(parts));
  HOCKET_TRY(copy_to_self(to_self));
  return start_parts(parts);
}

/// Before any has begun: a group that stops half way through would leave peers waiting.
Result<void> CommunicatorCore::check_room(const Parts& parts) {
  std::map<std::uint32_t, std::uint32_t> wanted;
  for (const Part& part : parts) ++wanted[part.queue];
  for (const auto& [index, calls] : wanted) {
    const std::uint32_t room = queue(index).room();
    if (calls > room)
      return fail(Code::kResourceExhausted,
                  "{}: {} calls of one kind (messages between the same two ranks, or collectives) at once, and room "
                  "for {} of at "
                  "most {} that are started and not waited for: wait for some first, or use several groups",
                  own_name(), calls, room, CallQueue::kSlots);
  }
  return {};
}

Result<Work> CommunicatorCore::start_parts(Parts& parts) {
  Work work;
  work.core_ = shared_from_this();
  work.more_.reserve(parts.size());
  for (Part& part : parts) {
    Result<std::uint32_t> slot = queue(part.queue).start(part.call);
    if (slot) {
      work.more_.push_back({part.queue, *slot});
      work.open_ = true;
      continue;
    }
    // Others may have begun their half: without this one they would wait for nothing.
    if (!failure_.set() && work.open_) abort(slot.error().text);
    return tl::unexpected<Error>(std::move(slot.error()));
  }
  return work;
}

Result<void> CommunicatorCore::check_together(std::span<const std::uint32_t> lost) const {
  const Member* first = nullptr;
  for (const Member& member : job_.members) {
    if (std::find(lost.begin(), lost.end(), member.rank) != lost.end()) continue;
    if (first == nullptr) first = &member;
    const std::string_view difference = first->place.difference(member.place);
    if (difference.empty()) continue;
    return fail(Code::kUnsupported,
                "{}: {} and {} are left and have another {} each: make a communicator with rank, size and root",
                own_name(), first->text(), member.text(), difference);
  }
  return {};
}

Result<PersistentCall> CommunicatorCore::prepare(const Call& call) {
  HOCKET_TRY(check_usable());
  HOCKET_TRY(check_words(call));
  if (call.operation > Operation::kAllToAll)
    return fail(Code::kUnsupported, "only collectives with a plan of their own can be prepared");
  Call unbound = call;
  unbound.input = unbound.output = this;  // any place: buffers come later
  HOCKET_TRY_ASSIGN(const QueuedCall queued, planned(unbound));
  HOCKET_TRY_ASSIGN(std::shared_ptr<PreparedCall> made, queues_.front()->prepare(queued.what));
  PersistentCall persistent;
  persistent.core_ = shared_from_this();
  persistent.algorithm_ = made->algorithm;
  persistent.prepared_ = std::move(made);
  persistent.call_ = call;
  persistent.call_.description = {};  // the caller's text may not live as long
  return persistent;
}

Result<QueuedCall> CommunicatorCore::prepared(const PersistentCall& call, const RankBuffers& buffers) {
  HOCKET_TRY(check_usable());
  Call bound = call.call_;
  bound.input = buffers.input;
  bound.output = buffers.output;
  HOCKET_TRY_ASSIGN(QueuedCall queued, planned(bound));
  queued.prepared = std::static_pointer_cast<PreparedCall>(call.prepared_);
  return queued;
}

Result<void> CommunicatorCore::run_prepared(const PersistentCall& call, const RankBuffers& buffers) {
  HOCKET_TRY_ASSIGN(const QueuedCall queued, prepared(call, buffers));
  return queues_.front()->run(queued);
}

Result<Work> CommunicatorCore::start_prepared(const PersistentCall& call, const RankBuffers& buffers) {
  HOCKET_TRY_ASSIGN(const QueuedCall queued, prepared(call, buffers));
  Work work;
  work.core_ = shared_from_this();
  HOCKET_TRY_ASSIGN(work.first_.slot, queues_.front()->start(queued));
  work.open_ = true;
  return work;
}

}  // namespace hocket
