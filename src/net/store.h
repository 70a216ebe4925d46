// Store: where ranks that do not know each other yet leave words for one another: rank 0 serves, all ask.
// StoreServer keeps the words in memory behind a Gate; StoreClient asks over one connection. A key is set once. Why a
// rank fails is sent to all clients unasked: their connections are otherwise quiet, so that it always finds room there,
// and whoever comes late reads it when server and sender have long ended.
// Ownership: the server owns its thread; values are copies. Threading: the server is used from one thread, a client
// from any.
// Refuses: keys over 256 bytes, values over 64 KiB, more than 64 Ki keys, setting a key again to something else, and
// waiting beyond a deadline (an Error names the key and who answered last).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/gate.h"

namespace hocket {

/// Set by the server when the connection of a rank's client has ended.
[[nodiscard]] std::string gone_key(std::uint32_t rank);
/// The number of the first rank whose connection has so ended before it left in order; nothing when it came again.
inline constexpr std::string_view kLostKey = "lost";
/// Set by the server when somebody has claimed to be that rank without knowing the secret: the address it came from.
/// Nobody vouches for it.
[[nodiscard]] std::string unproved_key(std::uint32_t rank);
/// Set by a rank that no longer needs the store to hear what is wrong: it talks with all others.
[[nodiscard]] std::string met_key(std::uint32_t rank);

/// Set by a rank that has left in order.
[[nodiscard]] std::string left_key(std::uint32_t rank);

/// Before it ends it serves those who have come and not met, two seconds at most: what they ask for says what is wrong.
/// After stay() it serves all who have come until they have gone, five seconds at most: they may meet through it.
class StoreServer {
 public:
  /// `name`: of the rank that serves; each client hears it first.
  [[nodiscard]] static Result<std::unique_ptr<StoreServer>> start(Descriptor listener, const Secret& secret,
                                                                  std::string name = "rank 0");
  ~StoreServer();
  void stay(bool stays = true) { stays_ = stays; }

 private:
  class Service;
  explicit StoreServer(std::unique_ptr<Service> service);
  std::unique_ptr<Service> service_;
  bool stays_ = false;
};

class StoreClient {
 public:
  /// Until that deadline answers may take their time: rank 0 may be stopped for a while, or busy with hundreds.
  [[nodiscard]] static Result<StoreClient> connect(const Address& address, const Secret& secret, std::uint32_t rank,
                                                   SteadyTime deadline, Patience patience = Patience::kUntilItListens);
  /// The same until then, of who has connected by a shorter deadline.
  void be_patient(SteadyTime until) { patient_until_ = until; }
  /// As errors call the rank that serves; before other threads ask.
  void call_server(std::string name) { server_ = std::move(name); }
  [[nodiscard]] const std::string& server() const { return server_; }

  [[nodiscard]] Result<void> set(std::string_view key, std::string_view value, SteadyTime deadline);
  /// Waits until somebody sets it; nothing when the deadline comes first.
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key, SteadyTime deadline);

  /// The same, of what can do without: not a moment longer than that, also when the store does not answer at all; and
  /// nothing more is asked while it owes an answer.
  [[nodiscard]] Result<void> note(std::string_view key, std::string_view value, SteadyTime until);
  [[nodiscard]] Result<std::optional<std::string>> look(std::string_view key, SteadyTime until);

  /// For all other clients; only the first such words of a job count. When this returns well they are on their way.
  [[nodiscard]] Result<void> tell_failure(std::string_view words, SteadyTime deadline);
  /// The same words for this client alone, which does not hear what it tells.
  void overhear_too(std::string_view words);
  struct Overheard {
    std::optional<std::string> failure;
    bool died = false;  // the server has ended out of order, and without word of a failure
  };
  /// What has come unasked by now.
  [[nodiscard]] Overheard overhear();

 private:
  /// One thread at a time, which waits for that until a deadline. Thread sanitizers do not follow a timed mutex.
  struct Turns {
    std::mutex mutex;
    std::condition_variable over;
    bool taken = false;
  };
  class Turn {
   public:
    Turn(Turns& turns, SteadyTime until);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] bool has() const { return has_; }

   private:
    Turns& turns_;
    bool has_;
  };

  StoreClient(Descriptor socket, std::string address)
      : turns_(std::make_unique<Turns>()), socket_(std::move(socket)), address_(std::move(address)) {}
  [[nodiscard]] Result<std::optional<std::string>> ask(std::string_view request, SteadyTime until);
  /// The next answer; what comes unasked is noted.
  [[nodiscard]] Result<std::string> hear(SteadyTime until);
  [[nodiscard]] Result<std::string> answer_to(std::string_view request, SteadyTime until);
  [[nodiscard]] Result<std::optional<std::string>> ask_soon(std::string_view request, SteadyTime until);
  /// Late answers, after what has come of them until then; true also when it does not become this thread's turn.
  [[nodiscard]] bool owes(SteadyTime turn_by, SteadyTime until);
  [[nodiscard]] std::optional<std::string> take_frame();
  void note_end(const Error& error);

  std::unique_ptr<Turns> turns_;  // of all below
  Descriptor socket_;
  std::string address_;
  std::string server_ = "rank 0";
  std::string in_;
  SteadyTime patient_until_;
  std::size_t owed_ = 0;  // answers, also such as did not come in time
  std::optional<std::string> failure_;
  bool leaves_ = false;  // the server, in order
  bool ended_ = false;   // the server's end of the connection
};

}  // namespace hocket
