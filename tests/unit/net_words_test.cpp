// The words of the network layer: addresses, port ranges, interface filters, launcher variables, store requests.
#include <gtest/gtest.h>

#include <map>

#include "net/host_place.h"
#include "net/interfaces.h"
#include "net/launch.h"
#include "net/link_addresses.h"
#include "net/port_range.h"
#include "net/store_wire.h"

namespace hocket {
namespace {

std::string endpoint_text(std::string_view text, std::uint16_t port = 0) {
  const Result<Endpoint> endpoint = parse_endpoint(text, port);
  return endpoint ? fmt::format("{} {}", endpoint->host, endpoint->port) : endpoint.error().text;
}

TEST(NetAddress, EverySpellingOfAnEndpoint) {
  EXPECT_EQ(endpoint_text("127.0.0.1:29555"), "127.0.0.1 29555");
  EXPECT_EQ(endpoint_text("localhost", 7), "localhost 7");
  EXPECT_EQ(endpoint_text("::1", 7), "::1 7");
  EXPECT_EQ(endpoint_text("[::1]:29555"), "::1 29555");
  EXPECT_EQ(endpoint_text("[fe80::1%lo]", 7), "fe80::1%lo 7");
  EXPECT_EQ(endpoint_text("::ffff:127.0.0.1", 7), "::ffff:127.0.0.1 7");
  EXPECT_EQ(endpoint_text("host"), "'host' has no port: host:port or [v6]:port");
  EXPECT_EQ(endpoint_text("host:0"), "'host:0' is not an address: '0' is not a port: 1 to 65535");
  EXPECT_EQ(endpoint_text("host:65536"), "'host:65536' is not an address: '65536' is not a port: 1 to 65535");
  EXPECT_EQ(endpoint_text("[::1:5"), "'[::1:5' is not an address: '[' without ']'");
  EXPECT_EQ(endpoint_text("[::1]5"), "'[::1]5' is not an address: '5' after ']'");
  EXPECT_EQ(endpoint_text(":5"), "':5' is not an address: no host");
}

TEST(NetAddress, MappedIpv4IsIpv4) {
  const Result<Address> mapped = resolve({"::ffff:127.0.0.1", 80});
  ASSERT_TRUE(mapped) << mapped.error().text;
  EXPECT_EQ(mapped->text(), "127.0.0.1:80");
  EXPECT_TRUE(mapped->is_loopback());
  EXPECT_EQ(Address::loopback(AF_INET6, 80).text(), "[::1]:80");
  EXPECT_FALSE(resolve({"192.0.2.1", 80})->is_loopback());
}

TEST(NetPortRange, WordsAndExhaustion) {
  EXPECT_EQ(parse_port_range("20000-20003")->last, 20003);
  EXPECT_EQ(parse_port_range("20000")->last, 20000);
  EXPECT_EQ(parse_port_range("5-4").error().text, "port range '5-4' is empty: 5 is above 4");
  EXPECT_FALSE(parse_port_range("0-4"));
  EXPECT_FALSE(parse_port_range("4-"));
  const Result<Descriptor> taken = listen_at(Address::loopback());
  const std::uint16_t port = local_address(*taken)->port();
  const Result<Descriptor> none = listen_in({.first = port, .last = port, .name = "--ports"}, Address::loopback(), 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(
      none.error().text,
      fmt::format("--ports {}-{}: no port is left at 127.0.0.1: this host needs 1 of 1, and other programs hold 1",
                  port, port));
}

TEST(NetInterfaces, NcclGrammar) {
  const auto passes = [](std::string_view filter, std::string_view name) {
    return InterfaceFilter::parse(filter)->passes(name);
  };
  EXPECT_TRUE(passes("", "eth0"));
  EXPECT_TRUE(passes("eth,ib", "ib0"));
  EXPECT_FALSE(passes("eth,ib", "lo"));
  EXPECT_TRUE(passes("=eth0", "eth0"));
  EXPECT_FALSE(passes("=eth", "eth0"));
  EXPECT_FALSE(passes("^docker,lo", "docker0"));
  EXPECT_TRUE(passes("^docker,lo", "eth0"));
  EXPECT_TRUE(passes("^=docker", "docker0"));
  for (const char* bad : {"^", "=", "eth,^lo", "a,,b"}) EXPECT_FALSE(InterfaceFilter::parse(bad)) << bad;
}

TEST(NetInterfaces, AChoiceOrEveryReason) {
  const std::vector<Interface> all{{"lo", Address::loopback(), true}, {"eth0", *resolve({"192.0.2.1", 1}), false}};
  const auto choose = [&](std::string_view filter, bool several) {
    return choose_interface(all, {*InterfaceFilter::parse(filter), AF_UNSPEC, several});
  };
  EXPECT_EQ(choose("=lo", false)->name, "lo");
  EXPECT_EQ(choose("nosuch0", false).error().text, "'nosuch0' passes none of the interfaces eth0, lo");
  EXPECT_EQ(choose("", true).error().text,
            "no interface will do: eth0 192.0.2.1 (down), lo 127.0.0.1 (loopback, and the job has several hosts)");
  EXPECT_EQ(choose("lo", true).error().text,
            "'lo' passes none that will do: lo 127.0.0.1 (loopback, and the job has several hosts)");
}

TEST(NetHostPlace, SaysWhatKeepsTwoFromMeeting) {
  const HostPlace here{"boot", "4:40", "5:50"};
  EXPECT_EQ(here.difference(HostPlace::from(here.text())), "");
  EXPECT_EQ(here.difference({"other", "4:41", "5:51"}), "kernel");
  EXPECT_EQ(here.difference({"boot", "4:41", "5:51"}), "network namespace");
  EXPECT_EQ(here.difference({"boot", "4:40", "5:51"}), "folder for private files");
  EXPECT_EQ(HostPlace::from("no place").text(), "unknown/unknown/unknown");
  const HostPlace own = HostPlace::own();
  EXPECT_EQ(own.difference(HostPlace::own()), "");
  EXPECT_EQ(own.text().find("unknown"), std::string::npos) << own.text();
  EXPECT_EQ(own.text().find(' '), std::string::npos) << own.text();
}

Result<std::optional<Launch>> launch_of(const std::map<std::string, std::string>& variables) {
  return read_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(NetLaunch, SourcesInOrder) {
  EXPECT_FALSE(*launch_of({}));
  const auto torch = launch_of({{"RANK", "1"},
                                {"WORLD_SIZE", "2"},
                                {"LOCAL_RANK", "1"},
                                {"MASTER_ADDR", "::1"},
                                {"MASTER_PORT", "29500"},
                                {"SLURM_PROCID", "0"},
                                {"SLURM_NTASKS", "1"},
                                {"SLURM_STEP_ID", "0"}});
  ASSERT_TRUE(torch && *torch);
  EXPECT_EQ((*torch)->source, "torchrun (RANK, WORLD_SIZE)");
  EXPECT_EQ((*torch)->root, "[::1]:29500");
  const auto open_mpi = launch_of({{"OMPI_COMM_WORLD_RANK", "3"},
                                   {"OMPI_COMM_WORLD_SIZE", "4"},
                                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                   {"PMIX_NAMESPACE", "17"}});
  EXPECT_EQ((*open_mpi)->job, "pmix-17");
  EXPECT_TRUE((*open_mpi)->one_host());
  EXPECT_FALSE(*launch_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));  // a batch script, no step
}

TEST(NetLaunch, HalfOfALauncherIsRefused) {
  using Set = std::map<std::string, std::string>;
  const std::vector<std::pair<Set, std::string>> cases{
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}},
       "RANK, WORLD_SIZE are set but MASTER_ADDR, MASTER_PORT are not (nor HOCKET_ROOT)"},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}},
       "RANK, WORLD_SIZE, MASTER_ADDR are set but MASTER_PORT is not (nor HOCKET_ROOT)"},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "0"}},
       "MASTER_PORT='0' is not a port: 1 to 65535"},
      {{{"WORLD_SIZE", "2"}}, "WORLD_SIZE is set but RANK, MASTER_ADDR, MASTER_PORT are not"},
      {{{"WORLD_SIZE", "2"}, {"HOCKET_ROOT", "a:1"}}, "WORLD_SIZE is set but RANK is not"},
      {{{"PMI_RANK", "0"}}, "PMI_RANK is set but PMI_SIZE is not"},
      {{{"OMPI_COMM_WORLD_SIZE", "2"}}, "OMPI_COMM_WORLD_SIZE is set but OMPI_COMM_WORLD_RANK is not"},
      {{{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}, "SLURM_PROCID is set but SLURM_NTASKS is not"},
      {{{"HOCKET_LOCAL_SIZE", "2"}}, "HOCKET_LOCAL_SIZE is set but HOCKET_RANK, HOCKET_SIZE are not"},
      {{{"WORLD_SIZE", "4"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}},
       "WORLD_SIZE is set but RANK, MASTER_ADDR, MASTER_PORT are not, and PMI (PMI_RANK, PMI_SIZE) says rank 0 of 2"},
      {{{"HOCKET_RANK", "0"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "HOCKET_RANK is set but HOCKET_SIZE is not"},
  };
  for (const auto& [variables, said] : cases) {
    const auto launch = launch_of(variables);
    EXPECT_FALSE(launch) << said;
    if (!launch) {
      EXPECT_EQ(launch.error().text, said);
    }
  }
}

TEST(NetLaunch, HalvesThatCountForLess) {
  const auto source_of = [](const std::map<std::string, std::string>& variables) {
    const auto launch = launch_of(variables);
    if (!launch) return launch.error().text;
    return *launch ? (*launch)->source : "none";
  };
  // Below one that is whole, and above one that says the same, as scripts of Slurm's users do.
  EXPECT_EQ(source_of({{"HOCKET_RANK", "0"}, {"HOCKET_SIZE", "2"}, {"WORLD_SIZE", "8"}}),
            "hocket (HOCKET_RANK, HOCKET_SIZE)");
  EXPECT_EQ(source_of({{"WORLD_SIZE", "2"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), "PMI (PMI_RANK, PMI_SIZE)");
  // Not a rank's: addresses for all, a batch script, an empty variable.
  EXPECT_EQ(source_of({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}), "none");
  EXPECT_EQ(source_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "none");
  EXPECT_EQ(source_of({{"WORLD_SIZE", ""}}), "none");
  // With HOCKET_ROOT rank 0 is known.
  EXPECT_EQ(source_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"HOCKET_ROOT", "a:1"}}), "torchrun (RANK, WORLD_SIZE)");
  const auto passed =
      read_launch([](const char* name) { return std::string_view(name) == "RANK" ? "1" : nullptr; }, Halves::kPassOver);
  EXPECT_TRUE(passed && !*passed);
}

TEST(NetLaunch, AnOuterLauncherIsSaid) {
  const auto launch =
      launch_of({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(launch && *launch);
  EXPECT_EQ((*launch)->origin(),
            "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), inside PMI (PMI_RANK, PMI_SIZE), rank 1 of 2");
}

TEST(NetLaunch, ContradictionsAndNonsense) {
  EXPECT_EQ(launch_of({{"HOCKET_ROOT", "here"}}).error().text,
            "HOCKET_ROOT: 'here' has no port: host:port or [v6]:port");
  EXPECT_EQ(launch_of({{"HOCKET_RANK", "0"}, {"HOCKET_SIZE", "2"}, {"HOCKET_LOCAL_SIZE", "3"}}).error().text,
            "HOCKET_LOCAL_SIZE=3 is above HOCKET_SIZE=2");
  EXPECT_EQ(
      launch_of({{"HOCKET_RANK", "0"}, {"HOCKET_SIZE", "2"}, {"HOCKET_LOCAL_RANK", "1"}, {"HOCKET_LOCAL_SIZE", "1"}})
          .error()
          .text,
      "HOCKET_LOCAL_RANK=1 is not below HOCKET_LOCAL_SIZE=1");
  EXPECT_EQ(launch_of({{"HOCKET_RANK", "0"}}).error().text, "HOCKET_RANK is set but HOCKET_SIZE is not");
  EXPECT_EQ(launch_of({{"HOCKET_RANK", "4"}, {"HOCKET_SIZE", "4"}}).error().text,
            "HOCKET_RANK=4 is not below HOCKET_SIZE=4");
  EXPECT_EQ(launch_of({{"HOCKET_RANK", "x"}, {"HOCKET_SIZE", "4"}}).error().text,
            "HOCKET_RANK='x' is not a number of ranks");
  EXPECT_EQ(launch_of({{"HOCKET_RANK", "0"}, {"HOCKET_SIZE", "4"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}).error().text,
            "hocket (HOCKET_RANK, HOCKET_SIZE) says rank 0 of 4, but PMI (PMI_RANK, PMI_SIZE) says rank 1 of 4");
}

TEST(NetLaunch, FirstHostOfANodeList) {
  EXPECT_EQ(first_host("node[03-05,9],other"), "node03");
  EXPECT_EQ(first_host("a,b"), "a");
  EXPECT_EQ(first_host("rack1-n[7]"), "rack1-n7");
  EXPECT_EQ(first_host("alone"), "alone");
}

TEST(NetStoreWire, RequestsComeBackAndDamageDoesNot) {
  const std::string set = spell_request({.sets = true, .wait_ms = 0, .key = "key", .value = "a value"});
  EXPECT_EQ(*read_length(set), set.size() - 4);
  const auto read = read_request(std::string_view(set).substr(4));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, "key");
  EXPECT_EQ(read->value, "a value");
  const std::string get = spell_request({.sets = false, .wait_ms = 1234, .key = "k", .value = {}});
  EXPECT_EQ(read_request(std::string_view(get).substr(4))->wait_ms, 1234U);
  for (const std::string_view bad : {"", "S", "S\x05\x00key", "G\x01\x00\x00\x00", "X123456", "S\x00\x00v"}) {
    EXPECT_FALSE(read_request(bad)) << bad;
  }
  EXPECT_FALSE(read_length("abc"));
}

std::string cables_text(const std::string& lines) {
  const auto cables = LinkAddresses::parse(lines, "cables", 4);
  if (!cables) return cables.error().text;
  const LinkAddresses::Joint* joint = cables->between(1, 0);
  if (joint == nullptr) return "none";
  std::string text;
  for (const std::uint32_t which : joint->lanes) {
    const LinkAddresses::Ends& ends = joint->connections[which];
    text += fmt::format("{}{}: {} {}", text.empty() ? "" : ", ", which, ends.local.host(), ends.remote.host());
  }
  return text;
}

TEST(NetLinkAddresses, BothEndsOfACableAgree) {
  EXPECT_EQ(cables_text("0 1 10.0.0.0 10.0.0.1  # a comment\n\n1 0 10.0.0.1 10.0.0.0\n"), "0: 10.0.0.1 10.0.0.0");
  EXPECT_EQ(cables_text("0 1 fd00::1 fd00::2\n1 0 fd00::2 fd00::1"), "0: fd00::2 fd00::1");
  EXPECT_EQ(cables_text("2 3 10.0.0.0 10.0.0.1\n3 2 10.0.0.1 10.0.0.0"), "none");
  EXPECT_EQ(cables_text("0 1 10.0.0.0 10.0.0.1"), "cables: rank 0 lists peer 1, but not the other way round");
  EXPECT_EQ(cables_text("0 1 10.0.0.0 10.0.0.1\n1 0 10.0.0.2 10.0.0.0"),
            "cables: rank 0 joins peer 1 by 10.0.0.0 10.0.0.1, which says 10.0.0.2 10.0.0.0");
}

TEST(NetLinkAddresses, ALineMoreIsALaneMoreAndTheSameAddressesAreOneConnection) {
  const std::string two = "0 1 10.0.0.0 10.0.0.1\n0 1 10.0.1.0 10.0.1.1\n1 0 10.0.0.1 10.0.0.0\n";
  EXPECT_EQ(cables_text(two + "1 0 10.0.1.1 10.0.1.0"), "0: 10.0.0.1 10.0.0.0, 1: 10.0.1.1 10.0.1.0");
  const std::string again = "0 1 10.0.0.0 10.0.0.1\n1 0 10.0.1.1 10.0.1.0\n1 0 10.0.0.1 10.0.0.0";
  EXPECT_EQ(cables_text(two + again), "0: 10.0.0.1 10.0.0.0, 1: 10.0.1.1 10.0.1.0, 0: 10.0.0.1 10.0.0.0");
  EXPECT_EQ(cables_text(two), "cables: rank 0 lists peer 1 2 times, the other way round it is 1");
  EXPECT_EQ(cables_text(two + "1 0 10.0.1.2 10.0.1.0"),
            "cables: rank 0 joins peer 1 by 10.0.1.0 10.0.1.1, which says 10.0.1.2 10.0.1.0");
}

TEST(NetLinkAddresses, LinesThatSayNothingAreNamed) {
  EXPECT_EQ(cables_text("0 1 10.0.0.0"), "cables:1: '0 1 10.0.0.0' is not 'rank peer local remote [rate]'");
  EXPECT_EQ(cables_text("\n0 1 a b c d"), "cables:2: '0 1 a b c d' is not 'rank peer local remote [rate]'");
  EXPECT_EQ(cables_text("0 4 10.0.0.0 10.0.0.1"), "cables:1: '0 4' are not two of 4 ranks");
  EXPECT_EQ(cables_text("1 1 10.0.0.0 10.0.0.1"), "cables:1: '1 1' are not two of 4 ranks");
  EXPECT_EQ(cables_text("x 1 10.0.0.0 10.0.0.1"), "cables:1: 'x 1' are not two of 4 ranks");
  EXPECT_EQ(cables_text("0 1 here 10.0.0.1"), "cables:1: 'here' is not the number of a host");
  EXPECT_EQ(cables_text("0 1 fd00::1 10.0.0.1"), "cables:1: fd00::1 and 10.0.0.1 are of two families");
  EXPECT_EQ(cables_text("0 1 10.0.0.0 10.0.0.1 50Mb"),
            "cables:1: '50Mb' is not a bandwidth: needs a unit per second (GB/s, Gb/s, GiB/s)");
  EXPECT_EQ(cables_text("0 1 10.0.0.0 10.0.0.1 50Mb/s\n0 1 10.0.0.0 10.0.0.1 40Mb/s"),
            "cables:2: the cable from 10.0.0.0 to 10.0.0.1 has 5 MB/s, in an earlier line 6.25 MB/s");
}

}  // namespace
}  // namespace hocket
