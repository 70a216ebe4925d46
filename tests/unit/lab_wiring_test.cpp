// How the lab lays a topology out: a cable per pair of links, addresses for every way, and routes along its links only.
#include <gtest/gtest.h>

#include <set>

#include "lab/ways.h"
#include "net/link_addresses.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr LinkRate kRate{BytesPerSecond{1e6}, Seconds{1e-3}};

Topology spec(const std::string& words) {
  TopologyOptions options;
  options.links = {kRate};
  return topology_from_spec(words, options).value();
}

LinkId link_between(const Topology& topology, VertexId from, VertexId to) {
  for (const LinkId id : topology.outgoing(from)) {
    if (topology.link(id).to == to) return id;
  }
  ADD_FAILURE() << "no link from " << from << " to " << to;
  return 0;
}

TEST(LabWiring, EveryLinkHasADeviceAndAnAddressOfItsOwn) {
  for (const char* const words : {"torus:2x2", "mesh:3x3", "switch:4", "fattree:2x2", "full:5"}) {
    const Topology topology = spec(words);
    const Wiring wiring = Wiring::of(topology).value();
    EXPECT_EQ(wiring.ends().size(), topology.links().size()) << words;
    std::set<std::string> addresses;
    for (const CableEnd& end : wiring.ends()) EXPECT_TRUE(addresses.insert(end.address).second) << words;
    for (LinkId id = 0; id < topology.links().size(); ++id) {
      const HopId hop = wiring.hop_of(id);
      EXPECT_EQ(wiring.sender(hop).link, id) << words;
      EXPECT_EQ(wiring.sender(hop).device, fmt::format("l{}", id)) << words;
      EXPECT_EQ(wiring.sender(hop).vertex, topology.link(id).from) << words;
      EXPECT_EQ(wiring.receiver(hop).vertex, topology.link(id).to) << words;
    }
  }
}

TEST(LabWiring, ALatencyBeyondTheKernelsPatienceIsRefused) {
  TopologyOptions options;
  options.links = {{BytesPerSecond{1e6}, Seconds{100}}};
  const Result<Wiring> wiring = Wiring::of(*topology_from_spec("ring:3", options));
  ASSERT_FALSE(wiring);
  EXPECT_EQ(wiring.error().text, "ring:3: link 0 -> 1 has a latency of 100 s; the lab's may have 1 s");
  options.links = {{BytesPerSecond{1e6}, Wiring::kLatencyMax}};
  EXPECT_TRUE(Wiring::of(*topology_from_spec("ring:3", options)));
}

TEST(LabWiring, ALinkWithoutATwinGetsAWayBackForAcknowledgements) {
  TopologyBuilder builder("one way");
  const VertexId a = builder.add_vertex("a", VertexKind::kNpu);
  const VertexId b = builder.add_vertex("b", VertexKind::kNpu);
  builder.add_cable(a, b, kRate.bandwidth, kRate.latency);
  builder.add_link(b, a, {3e6}, {2e-3});
  const Topology topology = std::move(builder).build().value();
  const Wiring wiring = Wiring::of(topology).value();
  ASSERT_EQ(wiring.ends().size(), 4U);
  const HopId back = Wiring::turned(wiring.hop_of(2));
  EXPECT_FALSE(wiring.sender(back).link.has_value());
  EXPECT_EQ(wiring.sender(back).device, "x1");
  EXPECT_EQ(wiring.sender(back).vertex, a);
  EXPECT_EQ(wiring.sender(back).rate.value, kRate.bandwidth.value);
}

TEST(LabWiring, RefusesWhatItHasNoAddressesFor) {
  const Result<Wiring> wiring = Wiring::of(spec("ring:251"));
  ASSERT_FALSE(wiring.has_value());
  EXPECT_NE(wiring.error().text.find("251 vertices"), std::string::npos) << wiring.error().text;
  EXPECT_TRUE(Wiring::of(spec("ring:250")).has_value());
}

TEST(LabWays, NeighboursMeetAtTheirCable) {
  const Topology line = spec("line:3");
  const Wiring wiring = Wiring::of(line).value();
  WayBook book(line, wiring);
  const LinkId there = link_between(line, 0, 1);
  const WayBook::Laid laid = book.lay(std::vector<LaneWay>{{0, 1, 0, {there}}}).value();
  EXPECT_TRUE(laid.commands.empty());
  const CableEnd& sender = wiring.sender(wiring.hop_of(there));
  const CableEnd& receiver = wiring.receiver(wiring.hop_of(there));
  EXPECT_EQ(laid.cables, fmt::format("0 1 {0} {1} {2:.0f}B/s\n1 0 {1} {0} {2:.0f}B/s\n", sender.address,
                                     receiver.address, sender.rate.value));
}

TEST(LabWays, SeveralLinksGetRoutesAlongThemOnceOnlyAndHaveTheRateOfTheSlowest) {
  const Topology line = apply_changes(spec("line:3"), {.scales = {"1-2=0.5"}}).value();
  const Wiring wiring = Wiring::of(line).value();
  WayBook book(line, wiring);
  const std::vector<LaneWay> lanes{{2, 0, 0, {link_between(line, 2, 1), link_between(line, 1, 0)}}};
  const WayBook::Laid laid = book.lay(lanes).value();
  EXPECT_EQ(laid.cables, "0 2 10.100.0.0 10.100.0.1 500000B/s\n2 0 10.100.0.1 10.100.0.0 500000B/s\n");
  ASSERT_EQ(laid.commands.size(), 3U);
  const auto route = [&](const char* to, VertexId from, VertexId next) {
    const HopId hop = wiring.hop_of(link_between(line, from, next));
    return fmt::format("route add {}/32 via {} dev {}", to, wiring.receiver(hop).address, wiring.sender(hop).device);
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(laid.commands.at(0), (Lines{"addr add 10.100.0.0/32 dev lo", route("10.100.0.1", 0, 1)}));
  EXPECT_EQ(laid.commands.at(1), (Lines{route("10.100.0.1", 1, 2), route("10.100.0.0", 1, 0)}));
  EXPECT_EQ(laid.commands.at(2), (Lines{"addr add 10.100.0.1/32 dev lo", route("10.100.0.0", 2, 1)}));
  const WayBook::Laid again = book.lay(lanes).value();
  EXPECT_EQ(again.cables, laid.cables);
  EXPECT_TRUE(again.commands.empty());
}

TEST(LabWays, LanesOfBothDirectionsMeetAndTheTableIsHocketsOwn) {
  const Topology ring = spec("ring:3");
  const Wiring wiring = Wiring::of(ring).value();
  WayBook book(ring, wiring);
  const std::vector<LinkId> straight{link_between(ring, 0, 1)};
  const std::vector<LinkId> around{link_between(ring, 0, 2), link_between(ring, 2, 1)};
  const WayBook::Laid laid =
      book.lay(std::vector<LaneWay>{{0, 1, 0, straight}, {0, 1, 1, around}, {1, 0, 0, {link_between(ring, 1, 0)}}})
          .value();
  const LinkAddresses read = LinkAddresses::parse(laid.cables, "table", 3).value();
  const LinkAddresses::Joint* const joint = read.between(0, 1);
  ASSERT_NE(joint, nullptr);
  EXPECT_EQ(joint->lanes, (std::vector<std::uint32_t>{0, 1}));
  // The way around comes back by the one link that the other direction uses.
  const std::string back = joint->connections[1].local.host();
  const std::vector<std::string>& at_1 = laid.commands.at(1);
  const auto leads_back = [&](const std::string& line) {
    return line.find("route add " + back + "/32 via") == 0 &&
           line.ends_with(fmt::format("dev l{}", link_between(ring, 1, 0)));
  };
  EXPECT_TRUE(std::any_of(at_1.begin(), at_1.end(), leads_back)) << fmt::format("{}", fmt::join(at_1, "\n"));
}

}  // namespace
}  // namespace hocket
