// Settings from the environment: each that is malformed is refused by name, whether the job would use it or not.
#include "api/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "api/unique_id.h"

namespace hocket {
namespace {

using Set = std::map<std::string, std::string>;

Variables variables_of(const Set& set) {
  return [set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
}

std::string error_of(const Set& set, const CommunicatorOptions& options = {}) {
  const Result<Settings> settings = read_settings(options, variables_of(set));
  return settings ? "" : settings.error().text;
}

TEST(Settings, ARankGivenInCodeFindsTheRootInTheEnvironment) {
  CommunicatorOptions options;
  options.rank = 1;
  options.size = 2;
  const Variables variables = variables_of({{"HOCKET_ROOT", "127.0.0.1:4711"}, {"HOCKET_RANK", "0"}});
  Result<Settings> settings = read_settings(options, variables);
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->rendezvous.launch.root, "127.0.0.1:4711");
  EXPECT_EQ(settings->rendezvous.launch.root_name, "HOCKET_ROOT");
  EXPECT_EQ(settings->rendezvous.launch.rank, 1U);
  EXPECT_EQ(error_of({{"HOCKET_ROOT", "host"}}, options), "HOCKET_ROOT: 'host' has no port: host:port or [v6]:port");
  options.root = "127.0.0.1:4712";
  settings = read_settings(options, variables);
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->rendezvous.launch.root, "127.0.0.1:4712");
  EXPECT_EQ(settings->rendezvous.launch.root_name, "");
}

TEST(Settings, WhatIsMalformedIsRefusedByName) {
  const std::vector<std::pair<std::pair<const char*, const char*>, std::string>> cases{
      {{"HOCKET_DEBUG", "4"}, "HOCKET_DEBUG='4': known: 0 or none, 1 or meeting, 2 or plans, 3 or calls"},
      {{"HOCKET_DEBUG", "all"}, "HOCKET_DEBUG='all': known: 0 or none, 1 or meeting, 2 or plans, 3 or calls"},
      {{"HOCKET_COUNT_TIME", "2"}, "HOCKET_COUNT_TIME='2': known: 0 and 1"},
      {{"HOCKET_SHM_LEND", "yes"}, "HOCKET_SHM_LEND='yes': known: 0 and 1"},
      {{"HOCKET_PROGRESS_CORE", "1x"}, "HOCKET_PROGRESS_CORE='1x' is not a core's number"},
      {{"HOCKET_PROGRESS_CORE", "1023"}, "HOCKET_PROGRESS_CORE='1023': core 1023 is none that this process may run on"},
      {{"HOCKET_PLAN_FILE", "/no/such.hkt"},
       "HOCKET_PLAN_FILE='/no/such.hkt': cannot open it: No such file or directory"},
      {{"HOCKET_TIMEOUT", "0s"}, "HOCKET_TIMEOUT='0s': must be above 0 and at most 1000000s"},
      {{"HOCKET_TIMEOUT", "2000000s"}, "HOCKET_TIMEOUT: '2000000s' is too long: more than 10^6 s"},
      {{"HOCKET_TIMEOUT", "soon"}, "HOCKET_TIMEOUT: 'soon' is not a time: no number"},
      {{"HOCKET_SPIN", "-1us"}, "HOCKET_SPIN: '-1us' is not a time: must be finite and not negative"},
      {{"HOCKET_TRANSPORT", "UDP"}, "HOCKET_TRANSPORT='UDP': unknown transport 'UDP'; known: auto, shm, tcp"},
      {{"HOCKET_PLUGIN_PATH", "/no/folder"}, "HOCKET_PLUGIN_PATH='/no/folder' is no folder"},
      {{"HOCKET_PORTS", "5-4"}, "HOCKET_PORTS: port range '5-4' is empty: 5 is above 4"},
      {{"HOCKET_SOCKET_IFNAME", "^"}, "HOCKET_SOCKET_IFNAME: interface filter '^' names no interface"},
      {{"HOCKET_SECRET", "short"}, "HOCKET_SECRET: the rendezvous secret has 5 characters, 16 are the least"},
      {{"HOCKET_ROOT", "host"}, "HOCKET_ROOT: 'host' has no port: host:port or [v6]:port"},
      {{"HOCKET_ROOT", "file:"}, "HOCKET_ROOT: 'file:' names no file"},
      {{"HOCKET_ROOT", "file:/tmp/"}, "HOCKET_ROOT: 'file:/tmp/' names no file"},
      {{"HOCKET_JOB", "a b"}, "HOCKET_JOB='a b': up to 200 letters, digits and any of -_.:"},
      {{"HOCKET_CABLES", "/no/cables"}, "HOCKET_CABLES: cannot open '/no/cables': No such file or directory"},
      {{"HOCKET_TCP_CONNECTIONS", "0"}, "HOCKET_TCP_CONNECTIONS='0': 1 to 16 are possible"},
      {{"HOCKET_TCP_CONNECTIONS", "many"}, "HOCKET_TCP_CONNECTIONS='many' is not a number of connections"},
      {{"HOCKET_HOSTID", "a,,b"}, "HOCKET_HOSTID='a,,b': a host without a name"},
      {{"HOCKET_LISTENER", "x"}, "HOCKET_LISTENER='x' is not a descriptor"},
      {{"WORLD_SIZE", "2"}, "WORLD_SIZE is set but RANK, MASTER_ADDR, MASTER_PORT are not"},
  };
  for (const auto& [variable, said] : cases) {
    EXPECT_EQ(error_of({variable}), said);
    EXPECT_EQ(error_of({{variable.first, ""}}), "");  // an empty one is none
  }
}

TEST(Settings, AFilterThatLeavesNoInterfaceIsRefusedByName) {
  for (const char* name : {"HOCKET_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
    const std::string said = fmt::format("{}: '=nosuch0' passes none of the interfaces ", name);
    EXPECT_EQ(error_of({{name, "=nosuch0"}}).substr(0, said.size()), said);
    EXPECT_EQ(error_of({{name, "=lo"}}), "");
  }
}

TEST(Settings, WhatIsTooShortForTheRanksIsRefused) {
  Set set{{"HOCKET_RANK", "0"}, {"HOCKET_SIZE", "3"}, {"HOCKET_LOCAL_SIZE", "3"}};
  set["HOCKET_HOSTID"] = "a,b";
  EXPECT_EQ(error_of(set), "HOCKET_HOSTID='a,b' names the hosts of 2 ranks, but there are 3");
  set["HOCKET_HOSTID"] = "a,b,c";
  EXPECT_EQ(error_of(set), "");
  set["HOCKET_HOSTID"] = "a";  // of all
  EXPECT_EQ(error_of(set), "");
  set["HOCKET_PORTS"] = "20000-20002";
  EXPECT_EQ(
      error_of(set),
      "HOCKET_PORTS='20000-20002': has 3 ports, but this host needs 4 (one for each of its ranks, and one more where "
      "rank 0 is)");
  set["HOCKET_ROOT"] = "127.0.0.1:30000";  // which rank 0 need not choose
  EXPECT_EQ(error_of(set), "");
  set["HOCKET_ROOT"] = "127.0.0.1:20001";  // but which takes one of them
  EXPECT_NE(error_of(set), "");
  set["HOCKET_PORTS"] = "20000-20003";
  EXPECT_EQ(error_of(set), "");
}

TEST(Settings, OptionsInCodeWinOverVariablesThatAreGood) {
  CommunicatorOptions options;
  options.timeout = std::chrono::seconds(3);
  options.transport = "tcp";
  const Result<Settings> settings =
      read_settings(options, variables_of({{"HOCKET_TIMEOUT", "5s"}, {"HOCKET_TRANSPORT", "shm"}}));
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->driver.timeout, std::chrono::seconds(3));
  EXPECT_EQ(settings->transport.name, "tcp");
  EXPECT_NE(error_of({{"HOCKET_TIMEOUT", "never"}}, options), "");
  EXPECT_NE(error_of({{"HOCKET_TRANSPORT", "UDP"}}, options), "");
}

TEST(Settings, AFlagWinsAndIsNamed) {
  const SettingWords words(variables_of({{"HOCKET_SPIN", "soon"}, {"HOCKET_PORTS", "9-1"}}),
                           {{"--spin", "HOCKET_SPIN", "5us"}, {"--ports", "HOCKET_PORTS", ""}});
  EXPECT_EQ(words.said("HOCKET_SPIN").text(), "--spin 5us");
  EXPECT_EQ(words.said("HOCKET_PORTS").text(), "HOCKET_PORTS='9-1'");
  const SettingWords bad({variables_of({})}, {{"--spin", "HOCKET_SPIN", "-5us"}});
  EXPECT_EQ(bad.said("HOCKET_SPIN").time().error().text,
            "--spin: '-5us' is not a time: must be finite and not negative");
}

TEST(Settings, AnIdIsFoundAtOneOfThePorts) {
  ::setenv("HOCKET_PORTS", "21000-21099", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const Result<std::string> id = make_unique_id();
  ::setenv("HOCKET_PORTS", "21099-21000", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const Result<std::string> none = make_unique_id();
  ::unsetenv("HOCKET_PORTS");  // NOLINT(concurrency-mt-unsafe): one thread
  ASSERT_TRUE(id) << id.error().text;
  const Result<MeetingPoint> point = parse_unique_id(*id);
  ASSERT_TRUE(point);
  EXPECT_TRUE(point->root.starts_with("127.0.0.1:210")) << point->root;
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "HOCKET_PORTS: port range '21099-21000' is empty: 21099 is above 21000");
}

}  // namespace
}  // namespace hocket
