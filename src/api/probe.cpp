#include "api/probe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/median.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kHostBytes = 256;

double rounded(double value) {
  if (value <= 0) return 0;
  const double scale = std::pow(10, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

/// Whom a rank meets in a round of a tournament in which everybody meets everybody once; itself: nobody.
std::uint32_t partner_of(std::uint32_t rank, std::uint32_t round, std::uint32_t ranks) {
  const std::uint32_t players = ranks + ranks % 2;
  const std::uint32_t last = players - 1;
  std::uint32_t partner = 0;
  if (rank == last) {
    for (std::uint32_t r = 0; r < last; ++r) partner = (2 * r) % last == round % last ? r : partner;
  } else {
    partner = (round + last - rank) % last;
    if (partner == rank) partner = last;
  }
  return partner < ranks ? partner : rank;
}

/// Two ranks, of which the first of the pair keeps time.
class PairProbe {
 public:
  PairProbe(Communicator& pair, const ProbeAmounts& amounts)
      : pair_(&pair), amounts_(amounts), buffer_(static_cast<std::size_t>(amounts.many_bytes)) {}

  Result<double> latency() {
    std::vector<double> times;
    for (std::uint32_t i = 0; i <= amounts_.repeats; ++i) {
      HOCKET_TRY_ASSIGN(const double time, timed([this]() -> Result<void> {
                          for (std::uint32_t k = 0; k < amounts_.round_trips; ++k) {
                            HOCKET_TRY(move(0, 4));
                            HOCKET_TRY(move(1, 4));
                          }
                          return {};
                        }));
      if (i > 0) times.push_back(time / (2.0 * amounts_.round_trips));  // the first one warms up
    }
    return median_of(std::move(times));
  }

  /// From the first and from the second, in turns: what disturbs one direction disturbs the other too.
  Result<std::array<double, 2>> bandwidths() {
    std::array<std::vector<double>, 2> rates;
    for (std::uint32_t i = 0; i <= amounts_.repeats; ++i) {
      for (std::uint32_t from = 0; from < 2; ++from) {
        HOCKET_TRY_ASSIGN(const double rate, bandwidth(from));
        if (i > 0) rates[from].push_back(rate);  // the first ones warm up
      }
    }
    return std::array{median_of(std::move(rates[0])), median_of(std::move(rates[1]))};
  }

  /// Until the other end has it and has said so.
  Result<double> one_way(std::uint32_t from, std::int64_t bytes) {
    return timed([this, from, bytes]() -> Result<void> {
      HOCKET_TRY(move(from, bytes));
      return move(1 - from, 4);
    });
  }

 private:
  Result<double> bandwidth(std::uint32_t from) {
    HOCKET_TRY_ASSIGN(const double few, one_way(from, ProbeAmounts::kFewBytes));
    HOCKET_TRY_ASSIGN(const double many, one_way(from, amounts_.many_bytes));
    // On a disturbed machine the few may take longer than the many; then what starting costs stays in.
    const double time = many > few ? many - few : many;
    const std::int64_t bytes = many > few ? amounts_.many_bytes - ProbeAmounts::kFewBytes : amounts_.many_bytes;
    return static_cast<double>(bytes) / time;
  }

  Result<void> move(std::uint32_t from, std::int64_t bytes) {
    return pair_->broadcast(buffer_.data(), bytes, DataType::kU8, from);
  }
  Result<double> timed(const std::function<Result<void>()>& body) {
    HOCKET_TRY(pair_->barrier());
    const auto begin = steady_clock::now();
    HOCKET_TRY(body());
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  }

  Communicator* pair_;
  ProbeAmounts amounts_;
  std::vector<std::byte> buffer_;
};

class Probe {
 public:
  Probe(Communicator& ranks, const ProbeAmounts& amounts)
      : ranks_(&ranks), amounts_(amounts), size_(ranks.size()), rank_(ranks.rank()) {}

  Result<ProbeFigures> run(const std::string& host) {
    HOCKET_TRY_ASSIGN(figures_.hosts, all_hosts(host));
    latency_.resize(size_);
    bandwidth_.resize(size_);
    for (std::uint32_t round = 0; round + 1 < size_ + size_ % 2; ++round) HOCKET_TRY(one_round(round));
    HOCKET_TRY_ASSIGN(figures_.latency_s, gathered(latency_));
    HOCKET_TRY_ASSIGN(figures_.bandwidth_Bps, gathered(bandwidth_));
    HOCKET_TRY(between_hosts());
    return std::move(figures_);
  }

 private:
  Result<std::vector<double>> gathered(const std::vector<double>& mine) {
    std::vector<double> all(mine.size() * size_);
    HOCKET_TRY(ranks_->run({.operation = Operation::kAllGather,
                            .input = mine.data(),
                            .output = all.data(),
                            .count = static_cast<std::int64_t>(mine.size()),
                            .type = DataType::kF64}));
    return all;
  }

  Result<std::vector<std::string>> all_hosts(const std::string& host) {
    std::array<char, kHostBytes> mine{};
    host.copy(mine.data(), mine.size() - 1);
    std::vector<std::array<char, kHostBytes>> all(size_);
    HOCKET_TRY(ranks_->run({.operation = Operation::kAllGather,
                            .input = mine.data(),
                            .output = all.data(),
                            .count = static_cast<std::int64_t>(kHostBytes),
                            .type = DataType::kU8}));
    std::vector<std::string> hosts;
    hosts.reserve(all.size());
    for (const auto& each : all) hosts.emplace_back(each.data());
    return hosts;
  }

  /// The pairs of a round one after another: nothing else moves while one is measured.
  Result<void> one_round(std::uint32_t round) {
    const std::uint32_t partner = partner_of(rank_, round, size_);
    const std::uint32_t first = std::min(rank_, partner);
    HOCKET_TRY_ASSIGN(std::optional<Communicator> pair,
                      ranks_->split(partner == rank_ ? std::nullopt : std::optional(first), rank_));
    for (std::uint32_t turn = 0; turn < size_; ++turn) {
      HOCKET_TRY(ranks_->barrier());
      if (pair && turn == first) HOCKET_TRY(measure(*pair, partner));
    }
    return {};
  }

  Result<void> measure(Communicator& pair, std::uint32_t partner) {
    PairProbe probe(pair, amounts_);
    HOCKET_TRY_ASSIGN(const double latency, probe.latency());
    HOCKET_TRY_ASSIGN(const auto rates, probe.bandwidths());
    latency_[partner] = latency;
    bandwidth_[partner] = rates[rank_ < partner ? 0 : 1];
    return {};
  }

  [[nodiscard]] std::map<std::string, std::vector<std::uint32_t>> ranks_by_host() const {
    std::map<std::string, std::vector<std::uint32_t>> by_host;
    for (std::uint32_t r = 0; r < size_; ++r) by_host[figures_.hosts[r]].push_back(r);
    return by_host;
  }

  Result<void> between_hosts() {
    const auto by_host = ranks_by_host();
    for (const auto& [from, senders] : by_host) {
      for (const auto& [to, receivers] : by_host) {
        if (from == to) continue;
        HOCKET_TRY_ASSIGN(const double rate, all_at_once(senders, receivers));
        figures_.between.push_back({from, to, rate});
      }
    }
    return {};
  }

  Result<double> all_at_once(const std::vector<std::uint32_t>& senders, const std::vector<std::uint32_t>& receivers) {
    const std::size_t pairs = std::min(senders.size(), receivers.size());
    std::optional<std::uint32_t> color;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      if (senders[i] == rank_ || receivers[i] == rank_) color = i;
    }
    const bool sends = std::find(senders.begin(), senders.end(), rank_) != senders.end();
    HOCKET_TRY_ASSIGN(std::optional<Communicator> pair, ranks_->split(color, sends ? 0 : 1));
    std::vector<double> rates;
    for (std::uint32_t i = 0; i <= amounts_.repeats; ++i) {
      HOCKET_TRY(ranks_->barrier());
      std::vector<double> mine{0};
      if (pair) {
        PairProbe probe(*pair, amounts_);
        HOCKET_TRY_ASSIGN(mine[0], probe.one_way(0, amounts_.many_bytes));
      }
      HOCKET_TRY_ASSIGN(const std::vector<double> times, gathered(mine));
      const double longest = *std::max_element(times.begin(), times.end());
      if (i > 0) rates.push_back(static_cast<double>(pairs) * static_cast<double>(amounts_.many_bytes) / longest);
    }
    return median_of(std::move(rates));
  }

  Communicator* ranks_;
  ProbeAmounts amounts_;
  std::uint32_t size_;
  std::uint32_t rank_;
  std::vector<double> latency_, bandwidth_;  // from this rank, by peer
  ProbeFigures figures_;
};

class Drawing {
 public:
  explicit Drawing(const ProbeFigures& figures)
      : figures_(figures), builder_(fmt::format("probed:{}", figures.ranks()), "probed") {}

  Result<Topology> make() && {
    const std::uint32_t n = figures_.ranks();
    for (std::uint32_t r = 0; r < n; ++r) builder_.add_vertex(fmt::format("{}", r), VertexKind::kNpu);
    for (std::uint32_t from = 0; from < n; ++from) {
      for (std::uint32_t to = 0; to < n; ++to) {
        if (from == to || figures_.hosts[from] != figures_.hosts[to]) continue;
        const std::size_t at = std::size_t{from} * n + to;
        builder_.add_link(from, to, {rounded(figures_.bandwidth_Bps[at])}, {rounded(figures_.latency_s[at])});
      }
    }
    if (!figures_.between.empty()) add_network();
    builder_.add_note("measured by hocket topo probe: what a call costs is in the latencies");
    return std::move(builder_).build();
  }

 private:
  /// A rank reaches its nic as fast as the fastest other host; a nic the network as fast as all of its ranks at once.
  void add_network() {
    std::map<std::string, double> rates;
    for (const ProbeFigures::Between& b : figures_.between) {
      rates[b.from] = std::max(rates[b.from], b.bandwidth_Bps);
      rates[b.to] = std::max(rates[b.to], b.bandwidth_Bps);
    }
    std::map<std::string, VertexId> nics;
    for (const auto& [host, rate] : rates) nics[host] = builder_.add_vertex("nic of " + host, VertexKind::kNic);
    const VertexId network = builder_.add_vertex("network", VertexKind::kSwitch);
    const std::uint32_t n = figures_.ranks();
    for (std::uint32_t r = 0; r < n; ++r) {
      double rate = 0;
      double latency = 0;
      for (std::uint32_t other = 0; other < n; ++other) {
        if (figures_.hosts[other] == figures_.hosts[r]) continue;
        const std::size_t at = std::size_t{r} * n + other;
        const bool first = rate == 0;
        rate = std::max(rate, figures_.bandwidth_Bps[at]);
        latency = first ? figures_.latency_s[at] : std::min(latency, figures_.latency_s[at]);
      }
      // Both ends of a message have such a link.
      builder_.add_cable(r, nics[figures_.hosts[r]], {rounded(rate)}, {rounded(latency / 2)});
    }
    for (const auto& [host, rate] : rates) builder_.add_cable(nics[host], network, {rounded(rate)}, {0});
  }

  const ProbeFigures& figures_;
  TopologyBuilder builder_;
};

}  // namespace

Result<ProbeFigures> probe(Communicator& ranks, const std::string& host, const ProbeAmounts& amounts) {
  return Probe(ranks, amounts).run(host);
}

Result<Topology> topology_of(const ProbeFigures& figures) { return Drawing(figures).make(); }

}  // namespace hocket
