#include "net/own_sockets.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <mutex>

namespace hocket {
namespace {

constexpr int kNumbers = 65'536;

struct Table {
  std::mutex mutex;  // the two below; held over a fork
  std::bitset<kNumbers> own;
  int end = 0;  // above all that were ever added
};

/// Never destroyed: sockets may be closed, and children forked, until the process ends.
Table& table();

void before_fork() { table().mutex.lock(); }
void after_fork() { table().mutex.unlock(); }

/// Nobody in the child uses what is closed here: a communicator stays with its process.
void in_child() {
  Table& t = table();
  for (int i = 0; i < t.end; ++i) {
    if (t.own[static_cast<std::size_t>(i)]) ::close(i);
  }
  t.own.reset();
  t.mutex.unlock();
}

Table& table() {
  static Table* const made = [] {
    auto* fresh = new Table;
    ::pthread_atfork(before_fork, after_fork, in_child);
    return fresh;
  }();
  return *made;
}

}  // namespace

bool add_own_socket(int descriptor) {
  if (descriptor >= kNumbers) return false;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  t.own.set(static_cast<std::size_t>(descriptor));
  t.end = std::max(t.end, descriptor + 1);
  return true;
}

void remove_own_socket(int descriptor) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  t.own.reset(static_cast<std::size_t>(descriptor));
}

}  // namespace hocket
