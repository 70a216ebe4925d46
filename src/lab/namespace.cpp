#include "lab/namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.h"
#include "net/socket.h"

namespace hocket {

Result<NetworkNamespace> NetworkNamespace::current() {
  Descriptor here(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!here.open()) return fail(Code::kUnsupported, "no network namespace: {}", system_words(errno));
  return NetworkNamespace(std::move(here));
}

Result<NetworkNamespace> NetworkNamespace::make() {
  HOCKET_TRY_ASSIGN(const NetworkNamespace home, current());
  if (::unshare(CLONE_NEWNET) != 0) {
    const int error = errno;
    return fail(Code::kUnsupported, "the lab needs root, to make network namespaces: {}", system_words(error));
  }
  Result<NetworkNamespace> made = current();
  home.enter();
  return made;
}

std::string NetworkNamespace::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor()); }

void NetworkNamespace::enter() const {
  HOCKET_ASSERT(::setns(descriptor(), CLONE_NEWNET) == 0, "a network namespace that is held cannot be entered");
}

NetworkNamespace::Inside::Inside(const NetworkNamespace& there, const NetworkNamespace& home) : home_(home) {
  there.enter();
}

NetworkNamespace::Inside::~Inside() { home_.enter(); }

}  // namespace hocket
