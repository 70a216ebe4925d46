#include "net/store.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <thread>

#include "net/store_wire.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kKeysMax = std::size_t{64} << 10;
constexpr std::size_t kUnprovedMax = 1024;
/// Over the time the server may take to answer a request that waited there.
constexpr milliseconds kSlack{2000};
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kStay{5000};
constexpr std::uint64_t kStays = 2;
constexpr std::string_view kFailureKey = "failure";
/// For whoever else asks the same client.
constexpr milliseconds kMoment{100};

}  // namespace

/// The thread behind a StoreServer: the gate, the clients that came through it, and who waits for which key.
class StoreServer::Service {
 public:
  Service(Descriptor listener, const Secret& secret, std::string name, Descriptor stop)
      : secret_(secret), name_(std::move(name)), gate_(std::move(listener), secret_), stop_(std::move(stop)) {}

  void begin() {
    thread_ = std::jthread([this] { serve(); });
  }
  void end(bool stays) {
    const std::uint64_t word = stays ? kStays : 1;
    [[maybe_unused]] const ssize_t told = ::write(stop_.get(), &word, sizeof(word));
    thread_.join();
  }

 private:
  struct Client {
    Descriptor socket;
    std::uint32_t rank = 0;
    std::string in;
    std::string out;
    std::string awaited;  // key
    SteadyTime until;
    bool gone = false;
  };

  void serve() {
    for (;;) {
      const SteadyTime now = steady_clock::now();
      std::vector<pollfd> waits{{stop_.get(), POLLIN, 0}};
      gate_.append_waits(waits);
      SteadyTime until = gate_.next_deadline(now + std::chrono::hours(1));
      for (const auto& client : clients_) {
        waits.push_back({client->socket.get(), static_cast<short>(client->out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
        if (!client->awaited.empty()) until = std::min(until, client->until);
      }
      if (leaving_at_) until = std::min(until, *leaving_at_);
      if (leaving_at_) waits.front().events = 0;
      wait_for(waits, until);
      if ((waits.front().revents & POLLIN) != 0) begin_to_leave();
      for (Guest& guest : gate_.admit()) welcome(std::move(guest));
      for (const Unproved& each : gate_.unproved()) note(each);
      for (const auto& client : clients_) attend(*client);
      for (std::size_t i = 0; i < clients_.size(); ++i) {
        if (clients_[i]->gone && !is_here(clients_[i]->rank)) note_gone(clients_[i]->rank);
      }
      std::erase_if(clients_, [](const auto& client) { return client->gone; });
      if (leaving_at_ && (steady_clock::now() >= *leaving_at_ || !is_needed())) return;
    }
  }

  void note_gone(std::uint32_t rank) {
    publish(gone_key(rank), "gone");
    if (!words_.contains(left_key(rank))) words_.emplace(kLostKey, fmt::format("{}", rank));
  }

  /// Whoever did not hear an answer in time may come again.
  void note_back(std::uint32_t rank) {
    words_.erase(gone_key(rank));
    const auto lost = words_.find(kLostKey);
    if (lost != words_.end() && lost->second == fmt::format("{}", rank)) words_.erase(lost);
  }

  void begin_to_leave() {
    std::uint64_t word = 0;
    stays_ = ::read(stop_.get(), &word, sizeof(word)) == sizeof(word) && word == kStays;
    leaving_at_ = steady_clock::now() + (stays_ ? kStay : kFarewell);
    say_to_all('.', "");
  }

  void say_to_all(char what, std::string_view words, const Client* but = nullptr) {
    for (const auto& client : clients_) {
      if (client.get() == but) continue;
      client->out += spell_reply(what, words);
      write(*client);
    }
  }

  /// A process that was wrongly told the rank of another may come and go beside it.
  [[nodiscard]] bool is_here(std::uint32_t rank) const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [rank](const auto& client) { return client->rank == rank && !client->gone; });
  }

  [[nodiscard]] bool is_needed() const {
    return std::any_of(clients_.begin(), clients_.end(), [this](const auto& client) {
      return client->rank != 0 && (stays_ || !words_.contains(met_key(client->rank)));
    });
  }

  /// Strangers cannot fill the store.
  void note(const Unproved& each) {
    if (unproved_ == kUnprovedMax) return;
    ++unproved_;
    publish(unproved_key(each.claim.rank), each.host);
  }

  void welcome(Guest guest) {
    if (guest.peer.claim().purpose != Claim::Purpose::kStore) return;
    clients_.push_back(std::make_unique<Client>());
    clients_.back()->socket = std::move(guest.socket);
    clients_.back()->rank = guest.peer.claim().rank;
    clients_.back()->out = spell_reply('=', name_);
    const auto failure = words_.find(kFailureKey);
    if (failure != words_.end()) clients_.back()->out += spell_reply('*', failure->second);
    note_back(guest.peer.claim().rank);
  }

  void attend(Client& client) {
    read(client);
    if (!client.awaited.empty() && steady_clock::now() >= client.until) {
      client.awaited.clear();
      client.out += spell_reply('-', "");
    }
    write(client);
  }

  /// One request at a time: a client that asks again before it has its answer waits. One that has gone may have said
  /// why with its last.
  void read(Client& client) {
    std::array<char, 4096> bytes{};
    while (!client.gone && client.in.size() < kStoreRequestMax + 4) {
      const ssize_t got = ::recv(client.socket.get(), bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) client.gone = true;
      if (got > 0) client.in.append(bytes.data(), static_cast<std::size_t>(got));
    }
    const auto length = read_length(client.in);
    if (!length || !client.awaited.empty()) return;
    if (*length > kStoreRequestMax) {
      client.gone = true;
    } else if (client.in.size() >= 4 + std::size_t{*length}) {
      answer(client, std::string_view(client.in).substr(4, *length));
      client.in.erase(0, 4 + std::size_t{*length});
    }
  }

  void answer(Client& client, std::string_view body) {
    const auto request = read_request(body);
    if (!request) {
      client.gone = true;
      return;
    }
    if (request->sets) return set(client, *request);
    const auto found = words_.find(request->key);
    if (found != words_.end()) {
      client.out += spell_reply('+', found->second);
      return;
    }
    client.awaited = request->key;
    client.until = steady_clock::now() + milliseconds(request->wait_ms);
  }

  void set(Client& client, const StoreRequest& request) {
    const auto found = words_.find(request.key);
    if (found != words_.end() && found->second != request.value) {
      client.out += spell_reply('!', fmt::format("'{}' is set already, to '{}'", request.key, found->second));
      return;
    }
    if (found == words_.end() && words_.size() == kKeysMax) {
      client.out += spell_reply('!', fmt::format("the store is full, {} keys", kKeysMax));
      return;
    }
    client.out += spell_reply('+', "");
    if (found == words_.end() && request.key == kFailureKey) say_to_all('*', request.value, &client);
    publish(std::string(request.key), request.value);
  }

  void publish(const std::string& key, std::string_view value) {
    words_.emplace(key, value);
    for (const auto& other : clients_) {
      if (other->awaited != key) continue;
      other->awaited.clear();
      other->out += spell_reply('+', value);
      write(*other);
    }
  }

  static void write(Client& client) {
    while (!client.out.empty()) {
      const ssize_t put = ::send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && errno != EAGAIN) client.gone = true;
      if (put < 0) return;
      client.out.erase(0, static_cast<std::size_t>(put));
    }
  }

  Secret secret_;
  std::string name_;  // of the rank that serves
  Gate gate_;
  Descriptor stop_;
  bool stays_ = false;  // of the thread
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::string, std::string, std::less<>> words_;
  std::size_t unproved_ = 0;              // noted
  std::optional<SteadyTime> leaving_at_;  // at the latest
  std::jthread thread_;
};

Result<std::unique_ptr<StoreServer>> StoreServer::start(Descriptor listener, const Secret& secret, std::string name) {
  Descriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.open()) return fail(Code::kResourceExhausted, "no event descriptor: {}", system_words(errno));
  auto service = std::make_unique<Service>(std::move(listener), secret, std::move(name), std::move(stop));
  try {
    service->begin();
  } catch (const std::system_error& error) {
    return fail(Code::kResourceExhausted, "no thread for the store: {}", error.what());
  }
  return std::unique_ptr<StoreServer>(new StoreServer(std::move(service)));
}

std::string gone_key(std::uint32_t rank) { return fmt::format("gone/{}", rank); }

std::string unproved_key(std::uint32_t rank) { return fmt::format("unproved/{}", rank); }

std::string left_key(std::uint32_t rank) { return fmt::format("left/{}", rank); }

std::string met_key(std::uint32_t rank) { return fmt::format("met/{}", rank); }

StoreServer::StoreServer(std::unique_ptr<Service> service) : service_(std::move(service)) {}

StoreServer::~StoreServer() { service_->end(stays_); }

Result<StoreClient> StoreClient::connect(const Address& address, const Secret& secret, std::uint32_t rank,
                                         SteadyTime deadline, Patience patience) {
  const Claim claim{Claim::Purpose::kStore, rank, 0};
  Result<Descriptor> socket = enter(address, secret, claim, deadline, {.patience = patience});
  if (!socket) return tl::unexpected<Error>(std::move(socket.error()));
  StoreClient client(std::move(*socket), address.text());
  client.patient_until_ = deadline;
  return client;
}

StoreClient::Turn::Turn(Turns& turns, SteadyTime until) : turns_(turns) {
  std::unique_lock lock(turns_.mutex);
  has_ = turns_.over.wait_until(lock, until, [&turns] { return !turns.taken; });
  turns_.taken = turns_.taken || has_;
}

StoreClient::Turn::~Turn() {
  if (!has_) return;
  const std::lock_guard lock(turns_.mutex);
  turns_.taken = false;
  turns_.over.notify_one();
}

std::optional<std::string> StoreClient::take_frame() {
  const std::optional<std::uint32_t> length = read_length(in_);
  if (!length || in_.size() - 4 < *length) return std::nullopt;
  std::string body = in_.substr(4, *length);
  in_.erase(0, 4 + std::size_t{*length});
  return body;
}

Result<std::string> StoreClient::hear(SteadyTime until) {
  for (;;) {
    while (std::optional<std::string> body = take_frame()) {
      if (body->starts_with('*')) {
        failure_ = body->substr(1);
      } else if (body->starts_with('.')) {
        leaves_ = true;
      } else if (body->starts_with('=')) {
        server_ = body->substr(1);
      } else if (owed_ > 0 && !body->empty()) {
        --owed_;
        return std::move(*body);
      } else {
        return fail(Code::kMalformed, "an answer to nothing");
      }
    }
    if (read_length(in_).value_or(0) > kStoreRequestMax)
      return fail(Code::kMalformed, "an answer of impossible length");
    std::array<std::byte, 4096> bytes{};
    HOCKET_TRY_ASSIGN(const std::size_t got, read_some(socket_, bytes, until));
    in_.append(reinterpret_cast<const char*>(bytes.data()), got);
  }
}

/// What came before the end counts.
void StoreClient::note_end(const Error& error) {
  while (hear(steady_clock::now())) {
  }
  ended_ = error.code == Code::kPeerFailed;
  socket_.reset();
}

/// Answers come in the order of the questions, perhaps late. Half a question would make nonsense of the next one.
Result<std::string> StoreClient::answer_to(std::string_view request, SteadyTime until) {
  if (!socket_.open()) return fail(Code::kPeerFailed, "the connection was closed");
  const Result<void> sent = write_all(socket_, std::as_bytes(std::span(request)), until);
  if (!sent) {
    note_end(sent.error());
    return tl::unexpected<Error>(sent.error());
  }
  ++owed_;
  Result<std::string> answer = hear(until);
  while (answer && owed_ > 0) answer = hear(until);
  if (!answer && answer.error().code != Code::kTimeout) note_end(answer.error());
  return answer;
}

Result<std::optional<std::string>> StoreClient::ask(std::string_view request, SteadyTime until) {
  const auto failed = [this](const Error& error) {
    return fail(error.code, "store of {} at {}: {}", server_, address_, error.text);
  };
  const Turn turn(*turns_, until);
  if (!turn.has()) return failed({Code::kTimeout, "it is being asked something else"});
  const Result<std::string> answer = answer_to(request, until);
  if (!answer) return failed(answer.error());
  if (answer->front() == '-') return std::optional<std::string>();
  if (answer->front() != '+') return failed({Code::kMismatch, answer->substr(1)});
  return std::optional(answer->substr(1));
}

void StoreClient::overhear_too(std::string_view words) {
  const Turn turn(*turns_, steady_clock::now() + kMoment);
  if (turn.has() && !failure_) failure_ = words;
}

StoreClient::Overheard StoreClient::overhear() {
  const Turn turn(*turns_, steady_clock::now() + kMoment);
  if (!turn.has()) return {};
  if (socket_.open()) {
    Result<std::string> late = hear(steady_clock::now());
    while (late) late = hear(steady_clock::now());
    if (late.error().code != Code::kTimeout) note_end(late.error());
  }
  return {failure_, ended_ && !leaves_ && !failure_};
}

bool StoreClient::owes(SteadyTime turn_by, SteadyTime until) {
  const Turn turn(*turns_, turn_by);
  if (!turn.has()) return true;
  while (owed_ > 0 && socket_.open()) {
    const Result<std::string> late = hear(until);
    if (late) continue;
    if (late.error().code == Code::kTimeout) return true;
    note_end(late.error());
  }
  return false;
}

Result<std::optional<std::string>> StoreClient::ask_soon(std::string_view request, SteadyTime until) {
  if (owes(until, until)) return fail(Code::kTimeout, "store of {} at {}: no answer", server_, address_);
  return ask(request, until);
}

Result<void> StoreClient::note(std::string_view key, std::string_view value, SteadyTime until) {
  HOCKET_TRY(ask_soon(spell_request({.sets = true, .wait_ms = 0, .key = key, .value = value}), until));
  return {};
}

Result<std::optional<std::string>> StoreClient::look(std::string_view key, SteadyTime until) {
  return ask_soon(spell_request({.sets = false, .wait_ms = 0, .key = key, .value = {}}), until);
}

Result<void> StoreClient::tell_failure(std::string_view words, SteadyTime deadline) {
  const std::string_view all = words.substr(0, kStoreValueMax);
  const SteadyTime until =
      owes(deadline, steady_clock::now()) ? steady_clock::now() : deadline;  // it reads this when it goes on
  HOCKET_TRY(ask(spell_request({.sets = true, .wait_ms = 0, .key = kFailureKey, .value = all}), until));
  return {};
}

Result<void> StoreClient::set(std::string_view key, std::string_view value, SteadyTime deadline) {
  if (key.empty() || key.size() > kStoreKeyMax || value.size() > kStoreValueMax)
    return fail(Code::kInvalidArgument, "key of {} bytes with a value of {}: at most {} and {}", key.size(),
                value.size(), kStoreKeyMax, kStoreValueMax);
  HOCKET_TRY(ask(spell_request({.sets = true, .wait_ms = 0, .key = key, .value = value}),
                 std::max(patient_until_, deadline) + kSlack));
  return {};
}

Result<std::optional<std::string>> StoreClient::get(std::string_view key, SteadyTime deadline) {
  if (key.empty() || key.size() > kStoreKeyMax)
    return fail(Code::kInvalidArgument, "key of {} bytes: at most {}", key.size(), kStoreKeyMax);
  const auto wait = static_cast<std::uint32_t>(milliseconds_until(deadline));
  return ask(spell_request({.sets = false, .wait_ms = wait, .key = key, .value = {}}),
             std::max(patient_until_, deadline) + kSlack);
}

}  // namespace hocket
