#include "support/forked_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace hocket::test {
namespace {

struct Child {
  pid_t process = -1;
  int said = -1;
};

void set_variables(std::uint32_t rank, std::uint32_t ranks, int job) {
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
  };
  set("HOCKET_RANK", std::to_string(rank));
  set("HOCKET_SIZE", std::to_string(ranks));
  set("HOCKET_LOCAL_RANK", std::to_string(rank));
  set("HOCKET_LOCAL_SIZE", std::to_string(ranks));
  set("HOCKET_JOB", fmt::format("forked-{}-{}", ::getppid(), job));
}

[[noreturn]] void be_rank(const RankBody& body, std::uint32_t rank, int said) {
  std::string text;
  try {
    text = body(rank);
  } catch (const std::exception& error) {
    text = fmt::format("threw {}", error.what());
  }
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t put = ::write(said, text.data() + at, text.size() - at);
    if (put <= 0) break;
    at += static_cast<std::size_t>(put);
  }
  ::_exit(text.empty() ? 0 : 1);
}

/// Until the pipe ends or the time is over.
std::string read_all(int from, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    pollfd wait{from, POLLIN, 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (ms <= 0 || ::poll(&wait, 1, static_cast<int>(ms)) == 0) return text + "(it did not end in time)";
    const ssize_t got = ::read(from, bytes.data(), bytes.size());
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::vector<RankEnd> run_forked(std::uint32_t ranks, const RankBody& body, std::chrono::seconds limit) {
  static int job = 0;
  ++job;
  std::vector<Child> children(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) std::abort();
    children[rank].said = pipe[0];
    children[rank].process = ::fork();
    if (children[rank].process == 0) {
      for (std::uint32_t other = 0; other <= rank; ++other) ::close(children[other].said);
      set_variables(rank, ranks, job);
      be_rank(body, rank, pipe[1]);
    }
    ::close(pipe[1]);
  }
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::vector<RankEnd> ends(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ends[rank].said = read_all(children[rank].said, deadline);
    ::close(children[rank].said);
    if (std::chrono::steady_clock::now() >= deadline) ::kill(children[rank].process, SIGKILL);
    int status = 0;
    ::waitpid(children[rank].process, &status, 0);
    if (WIFEXITED(status)) ends[rank].status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ends[rank].signal = WTERMSIG(status);
  }
  return ends;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace hocket::test
