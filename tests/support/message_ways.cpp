#include "support/message_ways.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace hocket::test {
namespace {

std::string all_of(int file) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

/// The word of `hosts` for a rank.
std::string host_of(std::uint32_t rank, const MessageWay& way) {
  std::istringstream words(way.hosts);
  std::string word;
  for (std::uint32_t r = 0; r <= rank; ++r) std::getline(words, word, ',');
  return word;
}

std::string expected_between(std::uint32_t from, std::uint32_t to, const MessageWay& way) {
  if (way.transport == std::string_view("tcp") || host_of(from, way) != host_of(to, way)) return "tcp";
  return "shm";
}

}  // namespace

HeardRun run_heard(std::uint32_t ranks, const MessageWay& way, const RankBody& body) {
  std::vector<int> files;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) files.push_back(::memfd_create("heard", MFD_CLOEXEC));
  HeardRun run;
  run.ends = run_forked(ranks, [&](std::uint32_t rank) -> std::string {
    const auto set = [](const char* name, const char* value) {
      ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
    };
    if (::dup2(files[rank], STDERR_FILENO) < 0) return "its standard error cannot be kept";
    set("HOCKET_DEBUG", "meeting");
    set("HOCKET_TRANSPORT", way.transport);
    set("HOCKET_HOSTID", way.hosts);
    return body(rank);
  });
  for (const int file : files) {
    run.logs.push_back(all_of(file));
    ::close(file);
  }
  return run;
}

std::vector<RankEnd> run_on_way(std::uint32_t ranks, const MessageWay& way, const RankBody& body) {
  const HeardRun run = run_heard(ranks, way, body);
  const std::regex said("messages from rank ([0-9]+) to rank ([0-9]+) go through (.*)");
  int pairs = 0;
  for (const std::string& log : run.logs) {
    for (auto at = std::sregex_iterator(log.begin(), log.end(), said); at != std::sregex_iterator(); ++at) {
      const auto from = static_cast<std::uint32_t>(std::stoul((*at)[1]));
      const auto to = static_cast<std::uint32_t>(std::stoul((*at)[2]));
      EXPECT_EQ((*at)[3], expected_between(from, to, way)) << at->str();
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 0) << "nobody has said which way its messages go: " << run.logs[0];
  return run.ends;
}

}  // namespace hocket::test
