#include "signals.h"

namespace hocket {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

void take_signals() {
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);
}

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kEnding) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals, number);
  }
  return signals;
}

HeldSignals::HeldSignals() : held_(ending_signals()) { ::pthread_sigmask(SIG_BLOCK, &held_, &before_); }

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Result<void> HeldSignals::check() const {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int number : kEnding) {
    if (sigismember(&held_, number) == 1 && sigismember(&pending, number) == 1)
      return fail(Code::kCancelled, "ended by signal {}", number);
  }
  return {};
}

}  // namespace hocket
