// Process: a child whose output is read as it comes, ended for sure when the test is over.
// Ownership: the child and everything in its session. Threading: one owner.
// Refuses: to wait for ever; a child that does not end in time is killed and says so in its Ended.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hocket::test {

struct Ended {
  int status = -1;  // exit status; -1 when a signal or the limit ended it
  int signal = 0;
  bool late = false;
  std::string out;
  std::string err;
};

class Process {
 public:
  /// `variables` are all that it gets besides PATH and a few neutral ones.
  Process(const std::vector<std::string>& arguments, const std::vector<std::string>& variables);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] Ended wait(std::chrono::milliseconds limit);
  void signal(int number) const;
  [[nodiscard]] bool running() { return !reap(); }
  /// Any process left of those it started: they share its session.
  [[nodiscard]] bool group_alive() const;

  [[nodiscard]] std::string out() { return read_more(out_fd_, out_), out_; }
  [[nodiscard]] std::string err() { return read_more(err_fd_, err_), err_; }

  /// Polls until `found` gives something.
  template <class T>
  std::optional<T> until(std::chrono::milliseconds limit, const std::function<std::optional<T>()>& found) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      if (const std::optional<T> value = found()) return value;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

 private:
  static void read_more(int descriptor, std::string& text);
  bool reap();

  int process_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  bool reaped_ = false;
  int wait_status_ = 0;
  std::string out_;
  std::string err_;
};

[[nodiscard]] Ended run(const std::vector<std::string>& arguments);

}  // namespace hocket::test
