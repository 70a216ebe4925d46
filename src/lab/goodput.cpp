#include "lab/goodput.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "net/socket.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTime{2000};
/// Fills the queue and spends the token bucket's credit.
constexpr std::chrono::milliseconds kStart{200};
constexpr std::chrono::seconds kConnectLimit{5};
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

/// One direction of a cable and what has come over it.
class Flow {
 public:
  static Result<Flow> over(const LabNetwork& network, HopId hop) {
    const CableEnd& source = network.wiring().sender(hop);
    const CableEnd& target = network.wiring().receiver(hop);
    const SteadyTime deadline = steady_clock::now() + kConnectLimit;
    HOCKET_TRY_ASSIGN(const Address address, resolve({target.address, 0}, AF_INET));
    HOCKET_TRY_ASSIGN(const Descriptor listener, listening(network, target.vertex, address));
    HOCKET_TRY_ASSIGN(const Address where, local_address(listener));
    Flow flow;
    {
      const NetworkNamespace::Inside inside(network.at(source.vertex), network.home());
      HOCKET_TRY_ASSIGN(flow.sender_, connect_once(where, deadline));
    }
    pollfd waiting{listener.get(), POLLIN, 0};
    wait_for({&waiting, 1}, deadline);
    flow.receiver_.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!flow.receiver_.open()) return fail(Code::kUnsupported, "the first cable of the lab carries no connection");
    return flow;
  }

  [[nodiscard]] std::array<pollfd, 2> waits() const {
    return {pollfd{sender_.get(), POLLOUT, 0}, pollfd{receiver_.get(), POLLIN, 0}};
  }

  /// Sends and receives what is possible now.
  void step(std::span<char> block, SteadyTime counted_from) {
    ::send(sender_.get(), block.data(), block.size(), MSG_NOSIGNAL);
    for (;;) {
      const ssize_t got = ::recv(receiver_.get(), block.data(), block.size(), 0);
      if (got <= 0) return;
      last_ = steady_clock::now();
      if (last_ < counted_from) continue;
      if (first_ == SteadyTime{}) {
        first_ = last_;
      } else {
        bytes_ += got;
      }
    }
  }

  /// Bytes per second between the first arrival that counts and the last; 0 when there were none.
  [[nodiscard]] double rate() const {
    const std::chrono::duration<double> time = last_ - first_;
    return bytes_ > 0 && time.count() > 0 ? static_cast<double>(bytes_) / time.count() : 0;
  }

 private:
  static Result<Descriptor> listening(const LabNetwork& network, VertexId vertex, const Address& address) {
    const NetworkNamespace::Inside inside(network.at(vertex), network.home());
    return listen_at(address);
  }

  Descriptor sender_;
  Descriptor receiver_;
  SteadyTime first_;
  SteadyTime last_;
  std::int64_t bytes_ = 0;
};

}  // namespace

Result<double> measure_goodput(const LabNetwork& network) {
  std::array<Flow, 2> flows;
  HOCKET_TRY_ASSIGN(flows[0], Flow::over(network, 0));
  HOCKET_TRY_ASSIGN(flows[1], Flow::over(network, 1));
  std::vector<char> block(kBlockBytes);
  const SteadyTime counted_from = steady_clock::now() + kStart;
  const SteadyTime end = steady_clock::now() + kTime;
  while (steady_clock::now() < end) {
    std::array<pollfd, 4> waits{};
    std::ranges::copy(flows[0].waits(), waits.begin());
    std::ranges::copy(flows[1].waits(), waits.begin() + 2);
    wait_for(waits, end);
    for (Flow& flow : flows) flow.step(block, counted_from);
  }
  double share = 0;
  for (HopId hop : {0U, 1U}) share += flows[hop].rate() / network.wiring().sender(hop).rate.value / 2;
  if (share <= 0) return fail(Code::kUnsupported, "the first cable of the lab carries no bytes");
  return share;
}

}  // namespace hocket
