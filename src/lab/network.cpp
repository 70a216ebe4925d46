#include "lab/network.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "lab/program.h"
#include "net/socket.h"

namespace hocket {
namespace {

constexpr int kBurstBytes = 20480;
/// What a token bucket queues at its rate, beside what is under way there and back.
constexpr double kQueueSeconds = 200e-3;
constexpr std::chrono::seconds kProgramLimit{60};

struct KernelSetting {
  const char* path;
  std::string_view value;
};
/// IPv6 would send messages of its own; packets take other ways back than there; links keep no memory of losses.
constexpr std::array kSettings{
    KernelSetting{"/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"},
    KernelSetting{"/proc/sys/net/ipv4/conf/all/rp_filter", "0"},
    KernelSetting{"/proc/sys/net/ipv4/conf/default/rp_filter", "0"},
    KernelSetting{"/proc/sys/net/ipv4/ip_forward", "1"},
    KernelSetting{"/proc/sys/net/ipv4/tcp_no_metrics_save", "1"},
};

/// Of the namespace in which the thread is. A kernel without IPv6 has no such setting, and needs none.
Result<void> apply_settings() {
  for (const KernelSetting& setting : kSettings) {
    std::ofstream file(setting.path);
    if (!file.is_open() && std::string_view(setting.path).find("/ipv6/") != std::string_view::npos) continue;
    file << setting.value << std::flush;
    if (!file) return fail(Code::kUnsupported, "the lab cannot write '{}' to {}", setting.value, setting.path);
  }
  return {};
}

std::string lines_of(const std::vector<std::string>& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }

std::string port_address(std::uint32_t rank) { return fmt::format("10.254.0.{}", rank + 1); }

/// Of a line of /proc/net/dev "  l7: received... (8 numbers) sent...": the link and what has been sent.
std::optional<std::pair<LinkId, std::int64_t>> link_in(const std::string& line) {
  const std::size_t colon = line.find(':');
  const std::size_t name = line.find_first_not_of(' ');
  if (colon == std::string::npos || line[name] != 'l') return std::nullopt;
  LinkId link = 0;
  const auto [end, error] = std::from_chars(line.data() + name + 1, line.data() + colon, link);
  if (error != std::errc{} || end != line.data() + colon) return std::nullopt;
  std::istringstream numbers(line.substr(colon + 1));
  std::int64_t number = 0;
  for (int i = 0; i < 9; ++i) numbers >> number;
  if (!numbers) return std::nullopt;
  return std::pair(link, number);
}

/// Two lines that begin with "Tcp:": the names, and the numbers in the same order.
std::optional<std::uint64_t> tcp_counter(std::istream& file, std::string_view name) {
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Tcp:")) continue;
    std::istringstream text(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (names.empty()) {
      names = std::move(words);
      continue;
    }
    const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at >= names.size() || at >= words.size()) return std::nullopt;
    return std::strtoull(words[at].c_str(), nullptr, 10);
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<LabNetwork>> LabNetwork::build(const Topology& topology) {
  HOCKET_TRY_ASSIGN(Wiring wiring, Wiring::of(topology));
  HOCKET_TRY_ASSIGN(NetworkNamespace home, NetworkNamespace::current());
  std::unique_ptr<LabNetwork> network(new LabNetwork(topology, std::move(wiring), std::move(home)));
  HOCKET_TRY(network->make_namespaces());
  HOCKET_TRY(network->make_bridge());
  HOCKET_TRY(network->make_cables());
  for (VertexId vertex = 0; vertex < topology.vertices().size(); ++vertex) HOCKET_TRY(network->furnish(vertex));
  HOCKET_TRY(network->slow_.start());
  return network;
}

Result<void> LabNetwork::make_namespaces() {
  HOCKET_TRY_ASSIGN(NetworkNamespace bridge, NetworkNamespace::make());
  bridge_.push_back(std::move(bridge));
  for (std::size_t i = 0; i < topology_->vertices().size(); ++i) {
    HOCKET_TRY_ASSIGN(NetworkNamespace vertex, NetworkNamespace::make());
    vertices_.push_back(std::move(vertex));
  }
  return {};
}

Result<void> LabNetwork::run_ip(const std::vector<std::string>& lines, const NetworkNamespace& where) const {
  const NetworkNamespace::Inside inside(where, home_);
  return run_program({"ip", "-batch", "-"}, lines_of(lines), kProgramLimit);
}

Result<void> LabNetwork::make_bridge() const {
  const NetworkNamespace& bridge = bridge_.front();
  std::vector<std::string> lines{"link add bridge type bridge", "link set bridge up"};
  for (std::uint32_t rank = 0; rank < topology_->rank_count(); ++rank) {
    lines.push_back(fmt::format("link add p{} type veth peer name {} netns {}", rank, kPort, of_rank(rank).path()));
    lines.push_back(fmt::format("link set p{} master bridge", rank));
    lines.push_back(fmt::format("link set p{} up", rank));
  }
  return run_ip(lines, bridge);
}

Result<void> LabNetwork::make_cables() {
  std::vector<std::string> lines;
  for (HopId hop = 0; hop < wiring_.ends().size(); hop += 2) {
    const CableEnd& a = wiring_.sender(hop);
    const CableEnd& b = wiring_.receiver(hop);
    if (std::max(a.latency, b.latency) >= SlowCables::kLeast) {
      HOCKET_TRY(slow_.add_end(a, at(a.vertex), home_));
      HOCKET_TRY(slow_.add_end(b, at(b.vertex), home_));
      continue;
    }
    lines.push_back(fmt::format("link add {} netns {} type veth peer name {} netns {}", a.device, at(a.vertex).path(),
                                b.device, at(b.vertex).path()));
  }
  return run_ip(lines, bridge_.front());
}

Result<void> LabNetwork::furnish(VertexId vertex) const {
  std::vector<std::string> lines{"link set lo up"};
  std::vector<std::string> shapes;
  if (const std::int32_t rank = topology_->rank_of(vertex); rank >= 0) {
    lines.push_back(fmt::format("addr add {}/24 dev {}", port_address(static_cast<std::uint32_t>(rank)), kPort));
    lines.push_back(fmt::format("link set {} up", kPort));
  }
  for (const CableEnd& end : wiring_.ends()) {
    if (end.vertex != vertex) continue;
    lines.push_back(fmt::format("addr add {}/31 dev {}", end.address, end.device));
    lines.push_back(fmt::format("link set {} gso_max_size {}", end.device, kFrame.count));
    lines.push_back(fmt::format("link set {} up", end.device));
    shapes.push_back(fmt::format("qdisc replace dev {} root tbf rate {:.0f}bit burst {} latency {:.0f}us", end.device,
                                 std::round(end.rate.value * 8), kBurstBytes,
                                 (kQueueSeconds + 2 * end.latency.value) * 1e6));
  }
  HOCKET_TRY(run_ip(lines, at(vertex)));
  const NetworkNamespace::Inside inside(at(vertex), home_);
  if (!shapes.empty()) HOCKET_TRY(run_program({"tc", "-batch", "-"}, lines_of(shapes), kProgramLimit));
  return apply_settings();
}

Result<Descriptor> LabNetwork::listen_at_rank_0() const {
  HOCKET_TRY_ASSIGN(const Address address, resolve({port_address(0), 0}, AF_INET));
  const NetworkNamespace::Inside inside(of_rank(0), home_);
  return listen_at(address);
}

Result<std::string> LabNetwork::lay(std::span<const LaneWay> lanes) {
  HOCKET_TRY_ASSIGN(WayBook::Laid laid, ways_.lay(lanes));
  for (const auto& [vertex, lines] : laid.commands) HOCKET_TRY(run_ip(lines, at(vertex)));
  return std::move(laid.cables);
}

Result<std::vector<std::int64_t>> LabNetwork::bytes_sent() const {
  std::vector<std::int64_t> sent(topology_->links().size(), -1);
  for (const NetworkNamespace& vertex : vertices_) {
    const NetworkNamespace::Inside inside(vertex, home_);
    std::ifstream file("/proc/thread-self/net/dev");
    for (std::string line; std::getline(file, line);) {
      if (const auto found = link_in(line); found && found->first < sent.size()) sent[found->first] = found->second;
    }
  }
  for (LinkId link = 0; link < sent.size(); ++link) {
    if (sent[link] < 0) return fail(Code::kIo, "the device of link {} has no counters", link);
  }
  return sent;
}

Result<std::vector<std::uint64_t>> LabNetwork::packets_sent_again() const {
  std::vector<std::uint64_t> all;
  for (std::uint32_t rank = 0; rank < topology_->rank_count(); ++rank) {
    const NetworkNamespace::Inside inside(of_rank(rank), home_);
    std::ifstream file("/proc/thread-self/net/snmp");
    const std::optional<std::uint64_t> packets = tcp_counter(file, "RetransSegs");
    if (!packets) return fail(Code::kIo, "the TCP of rank {} has no counter of what it sends again", rank);
    all.push_back(*packets);
  }
  return all;
}

Result<void> LabNetwork::lose(double share) {
  const std::size_t links = topology_->links().size();
  HOCKET_TRY_ASSIGN(FrameLoss loss, FrameLoss::make(links));
  for (LinkId link = 0; link < links; ++link) {
    const CableEnd& end = wiring_.receiver(wiring_.hop_of(link));
    HOCKET_TRY(loss.add(link, share, end.device, at(end.vertex), home_));
  }
  loss_ = std::move(loss);
  return {};
}

Result<std::vector<std::uint64_t>> LabNetwork::frames_lost() const {
  if (!loss_) return std::vector<std::uint64_t>(topology_->links().size());
  return loss_->lost();
}

}  // namespace hocket
