#include "net/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <thread>
#include <tuple>

#include "base/listing.h"
#include "net/cause.h"
#include "net/descriptor_limit.h"
#include "net/private_file.h"
#include "net/root.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{5};    // between two looks for the private file
constexpr milliseconds kRetry{20};  // between two attempts to reach rank 0
constexpr milliseconds kLastWord{100};
/// Of a wait, after which it is asked whether the rank waited for has died.
constexpr milliseconds kSlice{250};
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kEnding{500};     // until the end of a process shows on all its connections
constexpr milliseconds kLastLook{1000};  // before the deadline: rank 0 still waits, and can be asked
/// To reach a root that a file names, or that may have died since it was heard: the file may be of a run that died.
constexpr milliseconds kAttempt{500};

/// Set when a process has come that cannot be one of ours: why, for all who wait.
constexpr std::string_view kRefusedKey = "refused";

class Joining {
 public:
  explicit Joining(const RendezvousOptions& options)
      : options_(options),
        launch_(options.launch),
        terms_{launch_.rank, launch_.size, options.connections, options.cables.mark()} {
    job_.launch = options.launch;
  }

  Result<Job> run() {
    Result<void> met = meet();
    if (met) return std::move(job_);
    Error error = with_cause(std::move(met.error()));
    // What ends this rank is its own affair, and no death.
    if (job_.store) std::ignore = job_.store->note(left_key(launch_.rank), "", steady_clock::now() + kLastWord);
    return tl::unexpected<Error>(std::move(error));
  }

 private:
  Result<void> meet() {
    if (Result<void> enough = check_descriptors_for(options_); !enough)
      return fail(enough.error().code, "rank {}: {}", launch_.rank, enough.error().text);
    HOCKET_TRY_ASSIGN(place_, find_root(launch_, !options_.secret.empty()));
    HOCKET_TRY(check_known());
    HOCKET_TRY(launch_.rank == 0 ? serve(place_) : reach(place_));
    HOCKET_TRY(open_gate());
    HOCKET_TRY(gather());
    file_.remove();
    HOCKET_TRY(connect());
    job_.store->call_server(job_.members[0].text());
    return {};
  }

  [[nodiscard]] std::string name_of(std::uint32_t rank) const {
    return options_.before.names.empty() ? fmt::format("rank {}", rank) : options_.before.names[rank];
  }
  [[nodiscard]] std::string own_name() const { return name_of(launch_.rank); }
  /// Ranks that were told their numbers on their own know the others by what they have left.
  [[nodiscard]] std::string name_of(const Member& member) const {
    return options_.before.names.empty() ? member.text() : name_of(member.rank);
  }

  /// Of those that have met before; asked anew after some time.
  Result<void> check_known() {
    const SteadyTime now = steady_clock::now();
    if (!options_.before.check || now < check_at_) return {};
    check_at_ = now + kSlice;
    return options_.before.check();
  }

  /// Of ranks that have met before: who will not come, as soon as that shows. The others shall see it too before this
  /// rank leaves, which looks to them as a death does.
  Error with_cause(Error error) {
    const bool known = !options_.before.names.empty() && error.code == Code::kPeerFailed;
    const SteadyTime until = steady_clock::now() + (known ? kEnding : milliseconds(0));
    while (known) {
      check_at_ = {};
      if (Result<void> all = check_known(); !all) {
        std::this_thread::sleep_for(4 * kSlice);
        return std::move(all.error());
      }
      if (steady_clock::now() >= until) break;
      std::this_thread::sleep_for(kLook);
    }
    if (!job_.store) return error;
    error = told_cause(*job_.store, std::move(error), own_name());
    check_at_ = {};
    // Unless all hear elsewhere who will not come, or this rank shall end now.
    if (launch_.rank == 0 && error.code == Code::kPeerFailed && check_known()) {
      gate_.reset();  // whoever comes to connect goes on too
      await_readers();
    }
    return error;
  }

  Result<StoreClient> open_store(const Address& address, SteadyTime deadline,
                                 Patience patience = Patience::kUntilItListens) {
    Result<StoreClient> store = StoreClient::connect(address, *job_.secret, launch_.rank, deadline, patience);
    if (!store) return fail(store.error().code, "{}: store of {}: {}", own_name(), name_of(0), store.error().text);
    store->be_patient(options_.deadline);
    return store;
  }

  /// Ranks that can hear who will not come ask for it between attempts; where they have met before, also while rank 0
  /// answers none.
  Result<StoreClient> reach_store(const Address& address) {
    if (!options_.before.check) return open_store(address, options_.deadline);
    for (;;) {
      const SteadyTime now = steady_clock::now();
      const bool met = !options_.before.names.empty();
      const SteadyTime until = met ? std::min(options_.deadline, now + kAttempt) : options_.deadline;
      Result<StoreClient> store = open_store(address, until, Patience::kItListens);
      const bool again = !store && steady_clock::now() + kRetry < options_.deadline &&
                         (store.error().code == Code::kPeerFailed || store.error().code == Code::kTimeout);
      if (!again) return store;
      HOCKET_TRY(check_known());
      std::this_thread::sleep_for(kRetry);
    }
  }

  Result<void> set_secret(const std::string& text) {
    HOCKET_TRY_ASSIGN(Secret secret, text.empty() ? Secret::random() : Secret::from_text(text));
    job_.secret = std::make_unique<Secret>(std::move(secret));
    return {};
  }

  Result<void> serve(const Root& root) {
    HOCKET_TRY(check_replaceable(root));
    HOCKET_TRY(set_secret(options_.secret));
    Descriptor listener(options_.listener);
    if (!listener.open()) {
      if (!root.file.empty()) HOCKET_TRY(check_unserved(root));
      Result<Descriptor> made = listen_for_ranks(root);
      if (!made) HOCKET_TRY(check_unserved(root));
      HOCKET_TRY_ASSIGN(listener, std::move(made));
    }
    HOCKET_TRY_ASSIGN(const Address address, local_address(listener));
    const std::string me = name_of(Member{0, host_name(), ::getpid(), {}, {}});
    HOCKET_TRY_ASSIGN(job_.server, StoreServer::start(std::move(listener), *job_.secret, me));
    if (!root.file.empty()) {
      left_ = RootWords{address, job_.secret->text()}.text();
      HOCKET_TRY_ASSIGN(file_, PrivateFile::write(root.file, left_, root.folder));
    }
    note_way(root, address);
    HOCKET_TRY_ASSIGN(job_.store, open_store(address, options_.deadline));
    root_ = address;
    return {};
  }

  /// An error when another process serves this job as rank 0 already. A file may be of a run that died, a port
  /// another's.
  Result<void> check_unserved(const Root& root) {
    RootWords there{root.address.value_or(Address()), options_.secret};
    if (!root.file.empty()) {
      const Result<std::optional<std::string>> words = read_private(root.file);
      if (!words || !*words) return {};
      Result<RootWords> named = parse_root(**words);
      if (!named) return {};
      there = std::move(*named);
    }
    const Result<Secret> secret = Secret::from_text(there.secret);
    if (!secret) return {};
    const SteadyTime until = std::min(options_.deadline, steady_clock::now() + kAttempt);
    if (!connect_once(there.address, until)) return {};
    Result<StoreClient> store = StoreClient::connect(there.address, *secret, 0, until);
    if (!store) return {};
    return refuse_twin(*store, until);
  }

  /// Two rank 0s that begin at once both find no file: the first sees here that another has replaced its own.
  Result<void> check_file_ours() {
    if (!file_.is_left()) return {};
    const Result<std::optional<std::string>> words = read_private(place_.file);
    if (!words || !*words || **words == left_) return {};
    Result<void> unserved = check_unserved(place_);
    if (!unserved) static_cast<void>(job_.store->set(kRefusedKey, unserved.error().text, options_.deadline));
    return unserved;
  }

  /// Somebody else has left word as this rank: that error for this process, and in the store for those who wait.
  Result<void> refuse_twin(StoreClient& store, SteadyTime until) const {
    const Result<std::optional<std::string>> words = store.get(key_of(launch_.rank), until);
    if (!words || !*words) return {};
    HOCKET_TRY_ASSIGN(const Member other, parse_member(launch_.rank, **words, terms_));
    const std::string text =
        fmt::format("two processes are rank {}: one on host {}, pid {}, and one on host {}, pid {}", launch_.rank,
                    other.host, other.process, host_name(), ::getpid());
    static_cast<void>(store.set(kRefusedKey, text, until));
    return fail(Code::kMismatch, "{}", text);
  }

  Result<void> check_refused() {
    HOCKET_TRY_ASSIGN(const auto refused, job_.store->get(kRefusedKey, steady_clock::now()));
    if (!refused) return {};
    return fail(Code::kMismatch, "{}: {}", own_name(), *refused);
  }

  /// Where all ranks look for rank 0, or where this rank chooses and then says.
  [[nodiscard]] Result<Descriptor> listen_for_ranks(const Root& root) const {
    if (root.address) return listen_at(*root.address);
    HOCKET_TRY_ASSIGN(const Address where, place_to_listen(root));
    return listen_in(options_.ports, where, ports_needed(options_));
  }

  /// A file of the user's may be read on other hosts too.
  [[nodiscard]] Result<Address> place_to_listen(const Root& root) const {
    if (root.folder == PrivateFile::Folder::kOurs || launch_.one_host()) return Address::loopback();
    HOCKET_TRY_ASSIGN(const std::vector<Interface> all, list_interfaces());
    HOCKET_TRY_ASSIGN(const Interface chosen, choose_interface(all, {options_.interfaces, {}, true}));
    return chosen.address;
  }

  Result<void> reach(const Root& root) {
    if (root.file.empty()) {
      HOCKET_TRY(set_secret(options_.secret));
      Result<StoreClient> store = reach_store(*root.address);
      if (!store) return tl::unexpected<Error>(std::move(store.error()));
      job_.store = std::move(*store);
      note_way(root, *root.address);
      root_ = *root.address;
      return {};
    }
    bool asked = false;
    std::string last = fmt::format("{} has not left '{}'", name_of(0), root.file);
    while (steady_clock::now() < options_.deadline) {
      HOCKET_TRY_ASSIGN(const std::optional<std::string> words, read_private(root.file));
      if (words) {
        HOCKET_TRY_ASSIGN(const bool there, reach_named(root, *words, last));
        if (there) return {};
      }
      if (!asked && steady_clock::now() + kLastLook >= options_.deadline) {
        HOCKET_TRY(check_secret_given(root));
        asked = true;
      }
      HOCKET_TRY(check_known());
      std::this_thread::sleep_for(kLook);
    }
    return fail(Code::kTimeout, "{} has not found {}: {}{}", own_name(), name_of(0), last, launch_.job_note);
  }

  /// Rank 0 leaves no file where it was given the secret, and other programs leave none at all.
  Result<void> check_secret_given(const Root& root) const {
    if (!root.address || std::filesystem::exists(root.file)) return {};
    if (!connect_once(*root.address, steady_clock::now() + kAttempt)) return {};
    return fail(
        Code::kMismatch,
        "rank {}: {} listens but has left no '{}': either rank 0 has a HOCKET_SECRET, and this rank has none, or "
        "another program listens there",
        launch_.rank, root.address->text(), root.file);
  }

  /// False when nobody answers there as one of ours: the file may be an old one, which rank 0 will replace.
  Result<bool> reach_named(const Root& root, const std::string& words, std::string& last) {
    const Result<RootWords> named = parse_root(words);
    if (!named) {
      last = fmt::format("'{}': {}", root.file, named.error().text);
      if (words.empty() || root.folder == PrivateFile::Folder::kOurs) return false;
      return fail(named.error().code, "{}: {}", own_name(), last);
    }
    const Address& address = named->address;
    if (root.address && root.address->text() != address.text())
      return fail(Code::kMismatch, "rank {} looks for rank 0 at {}, but it listens at {}", launch_.rank,
                  root.address->text(), address.text());
    HOCKET_TRY(set_secret(named->secret));
    const SteadyTime until = std::min(options_.deadline, steady_clock::now() + kAttempt);
    Result<StoreClient> store = open_store(address, until);
    if (!store) {
      last = store.error().text;
      return false;
    }
    job_.store = std::move(*store);
    HOCKET_TRY(check_secret_left(root, *named));
    note_way(root, address);
    root_ = address;
    return true;
  }

  /// A rank that was given a secret takes no other. Who answers has left the file, so all may hear of it at once.
  Result<void> check_secret_left(const Root& root, const RootWords& named) {
    if (options_.secret.empty() || options_.secret == named.secret) return {};
    const std::string me = Member{launch_.rank, host_name(), ::getpid(), {}, {}}.text();
    const std::string text = fmt::format("{} has another secret than '{}' (HOCKET_SECRET)", me, root.file);
    static_cast<void>(job_.store->set(kRefusedKey, text, options_.deadline));
    return fail(Code::kMismatch, "{}: rank 0 has left '{}': its secret is another than ours (HOCKET_SECRET)",
                own_name(), root.file);
  }

  void note_way(const Root& root, const Address& address) {
    const std::string file = root.file.empty() ? "" : fmt::format(", found through '{}'", root.file);
    job_.way = fmt::format("{}; rank 0 at {}{}", launch_.origin(), address.text(), file);
  }

  /// Loopback while the job is on this host; otherwise the interface wished for, or that of rank 0's address.
  Result<void> open_gate() {
    Address where = Address::loopback(root_.family());
    if (!root_.is_loopback() || !options_.interfaces.empty()) {
      HOCKET_TRY_ASSIGN(const std::vector<Interface> all, list_interfaces());
      const InterfaceWish wish{options_.interfaces, root_.family(), !root_.is_loopback()};
      HOCKET_TRY_ASSIGN(const Interface chosen, choose_interface(all, wish));
      where = chosen.address;
      job_.way += fmt::format("; listens on {} {}", chosen.name, where.host());
    }
    shown_ = where;
    if (!options_.cables.empty()) where = Address::any(has_cable_of_v6() ? AF_INET6 : where.family());
    HOCKET_TRY_ASSIGN(Descriptor listener, listen_in(options_.ports, where, ports_needed(options_)));
    gate_.emplace(std::move(listener), *job_.secret);
    return {};
  }

  [[nodiscard]] bool has_cable_of_v6() const {
    const auto is_v6 = [](const LinkAddresses::Ends& ends) { return ends.local.family() == AF_INET6; };
    for (std::uint32_t peer = 0; peer < launch_.size; ++peer) {
      const LinkAddresses::Joint* joint = options_.cables.between(launch_.rank, peer);
      if (joint != nullptr && std::any_of(joint->connections.begin(), joint->connections.end(), is_v6)) return true;
    }
    return false;
  }

  Result<void> gather() {
    HOCKET_TRY_ASSIGN(const Address address, gate_->address());
    const Member me{launch_.rank, host_name(), ::getpid(), shown_.with_port(address.port()), HostPlace::own()};
    const std::string mine = member_words(me, terms_);
    const Result<void> left = job_.store->set(key_of(launch_.rank), mine, options_.deadline);
    if (!left && left.error().code == Code::kMismatch) HOCKET_TRY(refuse_twin(*job_.store, options_.deadline));
    HOCKET_TRY(left);
    for (std::uint32_t rank = 0; rank < launch_.size; ++rank) {
      HOCKET_TRY_ASSIGN(const std::optional<std::string> words, await_member(rank));
      if (!words) return missing(rank);
      Result<Member> member = parse_member(rank, *words, terms_);
      if (!member && launch_.rank == 0) await_readers();
      if (!member) return tl::unexpected<Error>(std::move(member.error()));
      job_.members.push_back(std::move(*member));
    }
    return {};
  }

  /// With rank 0 the store goes: the others shall have read there what is wrong, and left.
  void await_readers() {
    const SteadyTime until = std::min(options_.deadline, steady_clock::now() + kFarewell);
    for (std::uint32_t rank = 1; rank < launch_.size; ++rank) {
      if (!job_.store->get(gone_key(rank), until)) return;
    }
  }

  Result<std::optional<std::string>> await_member(std::uint32_t rank) {
    for (;;) {
      const SteadyTime until = std::min(options_.deadline, steady_clock::now() + kSlice);
      Result<std::optional<std::string>> words = job_.store->get(key_of(rank), until);
      if (!words) return words;
      if (*words || until == options_.deadline) return words;
      HOCKET_TRY(check_alive(rank, name_of(rank)));
      HOCKET_TRY(check_none_lost());
      HOCKET_TRY(check_file_ours());
    }
  }

  Result<void> check_alive(std::uint32_t rank, const std::string& name) {
    HOCKET_TRY(check_known());
    HOCKET_TRY(check_refused());
    HOCKET_TRY_ASSIGN(const auto gone, job_.store->get(gone_key(rank), steady_clock::now()));
    return gone ? lost(name) : Result<void>();
  }

  [[nodiscard]] Result<void> lost(const std::string& name, const std::string& why = {}) const {
    return fail(Code::kPeerFailed, "{} lost {} before all ranks were connected{}", own_name(), name, why);
  }

  /// While one has not come nobody has met all, and whoever has gone without a word is lost.
  Result<void> check_none_lost() {
    HOCKET_TRY_ASSIGN(const auto lost, job_.store->get(kLostKey, steady_clock::now()));
    std::uint32_t rank = launch_.size;
    if (lost) std::from_chars(lost->data(), lost->data() + lost->size(), rank);
    if (rank >= launch_.size) return {};
    HOCKET_TRY_ASSIGN(const auto words, job_.store->get(key_of(rank), steady_clock::now()));
    if (!words) return check_alive(rank, name_of(rank));
    const Result<Member> member = parse_member(rank, *words, terms_);
    return check_alive(rank, member ? name_of(*member) : name_of(rank));
  }

  [[nodiscard]] static std::string key_of(std::uint32_t rank) { return fmt::format("member/{}", rank); }

  /// Who came without our secret is named, too: when that is all who are missing, the secret is what is wrong.
  Result<void> missing(std::uint32_t first) {
    HOCKET_TRY(check_refused());
    std::string names;
    std::string unproved;
    std::size_t count = 0;
    Code code = Code::kMismatch;
    for (std::uint32_t rank = first; rank < launch_.size; ++rank) {
      HOCKET_TRY_ASSIGN(const auto words, job_.store->get(key_of(rank), steady_clock::now()));
      if (words) continue;
      const bool listed = ++count <= kListedMax;
      const bool known = !options_.before.names.empty();
      if (listed) names += (names.empty() ? "" : ", ") + (known ? name_of(rank) : fmt::format("{}", rank));
      HOCKET_TRY_ASSIGN(const auto from, job_.store->get(unproved_key(rank), steady_clock::now()));
      if (!from) code = Code::kTimeout;
      if (from && listed)
        unproved += fmt::format("; one came from {} as rank {} with another secret than ours", *from, rank);
    }
    return fail(code, "{}: of {} ranks these have not come in time: {}{}{}{}", own_name(), launch_.size, names,
                and_more(count), unproved, unproved.empty() ? "" : " (HOCKET_SECRET)");
  }

  Result<void> connect() {
    std::vector<std::vector<std::uint32_t>> lanes(launch_.size);
    for (std::uint32_t rank = 0; rank < launch_.size; ++rank) {
      const LinkAddresses::Joint* joint = options_.cables.between(launch_.rank, rank);
      if (joint != nullptr) lanes[rank] = joint->lanes;
    }
    std::vector<std::uint32_t> each(launch_.size, options_.connections);
    each[launch_.rank] = 1;
    job_.streams = Streams(launch_.size, lanes, std::move(each));
    job_.links.resize(job_.streams.count());
    for (std::uint32_t rank = 0; rank < launch_.rank; ++rank) {
      std::uint32_t which = 0;
      for (const std::uint32_t stream : job_.streams.to(rank)) HOCKET_TRY(reach_peer(stream, which++));
    }
    HOCKET_TRY(let_in());
    for (std::uint32_t rank = 0; rank < launch_.size; ++rank) tune_links_to(rank);
    return {};
  }

  /// The cable of the `which`-th connection to that peer; null: none is listed.
  [[nodiscard]] const LinkAddresses::Ends* cable_of(std::uint32_t peer, std::uint32_t which) const {
    const LinkAddresses::Joint* joint = options_.cables.between(launch_.rank, peer);
    return joint == nullptr ? nullptr : &joint->connections[which / options_.connections];
  }

  void tune_links_to(std::uint32_t peer) {
    std::uint32_t which = 0;
    for (const std::uint32_t stream : job_.streams.to(peer)) {
      const LinkAddresses::Ends* cable = cable_of(peer, which++);
      if (cable != nullptr && cable->rate.value > 0) tune_for(job_.links[stream], cable->rate);
    }
  }

  /// `which`: of the connections to that peer.
  Result<void> reach_peer(std::uint32_t stream, std::uint32_t which) {
    const Member& peer = job_.members[job_.streams.peer(stream)];
    const LinkAddresses::Ends* cable = cable_of(peer.rank, which);
    const Address there = cable == nullptr ? peer.address : cable->remote.with_port(peer.address.port());
    const Approach approach{Patience::kItListens, cable == nullptr ? nullptr : &cable->local};
    const Claim claim{Claim::Purpose::kLink, launch_.rank, which};
    Result<Descriptor> link = enter(there, *job_.secret, claim, options_.deadline, approach);
    if (!link) return unreachable(peer, link.error());
    job_.links[stream] = std::move(*link);
    return {};
  }

  /// Who does not listen any more may have died: then the store has seen that too, or sees it in a moment.
  Result<void> unreachable(const Member& peer, const Error& why) {
    if (why.code == Code::kPeerFailed) {
      const auto gone =
          job_.store->get(gone_key(peer.rank), std::min(options_.deadline, steady_clock::now() + kEnding));
      if (gone && *gone) return lost(name_of(peer), ": " + why.text);
    }
    return fail(why.code, "{} cannot connect to {}: {}", own_name(), name_of(peer), why.text);
  }

  /// The place that a guest claims, when it is one of ours and still free.
  [[nodiscard]] Descriptor* place_of(const Claim& claim) {
    if (claim.purpose != Claim::Purpose::kLink || claim.rank <= launch_.rank || claim.rank >= launch_.size)
      return nullptr;
    const std::vector<std::uint32_t> streams = job_.streams.to(claim.rank);
    if (claim.lane >= streams.size()) return nullptr;
    Descriptor& place = job_.links[streams[claim.lane]];
    return place.open() ? nullptr : &place;
  }

  Result<void> let_in() {
    std::uint32_t missing = 0;
    for (std::uint32_t stream = 0; stream < job_.streams.count(); ++stream)
      missing += job_.streams.peer(stream) > launch_.rank ? 1 : 0;
    while (missing > 0) {
      for (Guest& guest : gate_->admit()) {
        Descriptor* const place = place_of(guest.peer.claim());
        if (place == nullptr) continue;
        *place = std::move(guest.socket);
        --missing;
      }
      if (missing == 0) break;
      if (steady_clock::now() >= options_.deadline) return unconnected();
      std::vector<pollfd> waits;
      gate_->append_waits(waits);
      const SteadyTime slice = std::min(options_.deadline, steady_clock::now() + kSlice);
      if (wait_for(waits, gate_->next_deadline(slice)) > 0 || steady_clock::now() < slice) continue;
      for (std::uint32_t rank = launch_.rank + 1; rank < launch_.size; ++rank) {
        if (lacks_links_to(rank)) HOCKET_TRY(check_alive(rank, name_of(job_.members[rank])));
      }
    }
    return {};
  }

  [[nodiscard]] bool lacks_links_to(std::uint32_t peer) const {
    const std::vector<std::uint32_t> streams = job_.streams.to(peer);
    return std::any_of(streams.begin(), streams.end(), [&](std::uint32_t s) { return !job_.links[s].open(); });
  }

  Result<void> unconnected() {
    std::string names;
    std::size_t count = 0;
    for (std::uint32_t rank = launch_.rank + 1; rank < launch_.size; ++rank) {
      if (!lacks_links_to(rank) || ++count > kListedMax) continue;
      names += (names.empty() ? "" : ", ") + name_of(job_.members[rank]);
    }
    return fail(Code::kTimeout, "{}: no connection in time from {}{}{}", own_name(), names, and_more(count),
                gate_->hindrance());
  }

  const RendezvousOptions& options_;
  const Launch& launch_;
  const JobTerms terms_;
  Job job_;
  Root place_;        // where rank 0 is to be found
  std::string left_;  // by rank 0 in its file
  Address root_;
  Address shown_;  // where others find this rank
  PrivateFile file_;
  SteadyTime check_at_;  // whether those that are known will come
  std::optional<Gate> gate_;
};

}  // namespace

std::uint32_t ports_needed(const RendezvousOptions& options) {
  const Launch& launch = options.launch;
  if (launch.size == 1) return 0;
  const std::uint32_t here = launch.local_size == 0 ? 1 : launch.local_size;
  const bool with_rank_0 = launch.rank == 0 || launch.one_host();
  const bool free = launch.root.empty() || launch.root.starts_with(kRootFile);
  const Result<Endpoint> root = parse_endpoint(launch.root);
  return here + (with_rank_0 && (free || (root && options.ports.holds(root->port))) ? 1 : 0);
}

Result<void> check_descriptors_for(const RendezvousOptions& options) {
  // The client of the store, the gate and who knocks there; then what a transport sleeps at, and its memory.
  constexpr std::size_t kAround = 6;
  const Launch& launch = options.launch;
  const std::size_t links = std::size_t{launch.size - 1} * options.connections;
  const std::size_t served = launch.rank == 0 ? 2 + std::size_t{launch.size} : 0;  // to listen, to be told, the clients
  return check_descriptors(links + served + kAround);
}

Result<Job> join(const RendezvousOptions& options) {
  if (options.launch.size == 1) {
    Job alone;
    alone.launch = options.launch;
    alone.members.push_back({0, host_name(), ::getpid(), {}, {}});
    alone.streams = Streams(1);
    alone.links.resize(1);
    alone.way = options.launch.origin() + "; one rank needs no network";
    return alone;
  }
  return Joining(options).run();
}

}  // namespace hocket
