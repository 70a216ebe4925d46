#include "support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hocket::test {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  std::vector<std::string> words = arguments;
  std::vector<std::string> environment = variables;
  environment.emplace_back("PATH=/usr/bin:/bin");
  for (const char* kept : {"TSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "XDG_RUNTIME_DIR"}) {
    const char* value = std::getenv(kept);  // NOLINT(concurrency-mt-unsafe): one thread
    if (value != nullptr) environment.push_back(std::string(kept) + "=" + value);
  }
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(environment);
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  process_ = ::fork();
  if (process_ == 0) {
    ::setsid();
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
  ::fcntl(out_fd_, F_SETFL, O_NONBLOCK);
  ::fcntl(err_fd_, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  if (!reap()) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &wait_status_, 0);
  }
  ::close(out_fd_);
  ::close(err_fd_);
}

void Process::read_more(int descriptor, std::string& text) {
  std::array<char, 4096> bytes{};
  for (ssize_t got = ::read(descriptor, bytes.data(), bytes.size()); got > 0;
       got = ::read(descriptor, bytes.data(), bytes.size())) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

bool Process::reap() {
  if (!reaped_) reaped_ = ::waitpid(process_, &wait_status_, WNOHANG) == process_;
  return reaped_;
}

Ended Process::wait(std::chrono::milliseconds limit) {
  Ended ended;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!reap()) {
    read_more(out_fd_, out_);
    read_more(err_fd_, err_);
    if (std::chrono::steady_clock::now() >= deadline) {
      ended.late = true;
      ::kill(process_, SIGKILL);
      ::waitpid(process_, &wait_status_, 0);
      reaped_ = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ended.out = out();
  ended.err = err() + (ended.late ? "(killed: it did not end in time)\n" : "");
  if (WIFEXITED(wait_status_)) ended.status = WEXITSTATUS(wait_status_);
  if (WIFSIGNALED(wait_status_)) ended.signal = WTERMSIG(wait_status_);
  return ended;
}

void Process::signal(int number) const { ::kill(process_, number); }

bool Process::group_alive() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (::getsid(std::atoi(name.c_str())) != process_) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t close = text.rfind(')');
    if (close != std::string::npos && close + 2 < text.size() && text[close + 2] != 'Z') return true;
  }
  return false;
}

Ended run(const std::vector<std::string>& arguments) { return Process(arguments, {}).wait(std::chrono::seconds(60)); }

}  // namespace hocket::test
