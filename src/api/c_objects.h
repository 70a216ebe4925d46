// What stands behind the handles of hocket.h, and how errors and exceptions become results.
// Ownership: the caller of the C API owns handles. Threading: words of errors and groups are kept per thread in one
// table with a mutex; a thread's entry goes with its group's end or its next error.
// Refuses: nothing by itself.
#pragma once

#include <hocket.h>

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "api/fork_mark.h"
#include "base/result.h"
#include "hocket/communicator.h"

struct hktComm {
  explicit hktComm(hocket::Communicator made) : communicator(std::move(made)) {}
  hocket::Communicator communicator;
  std::shared_ptr<void> alive = std::make_shared<char>();
  std::mutex mutex;  // the two below
  std::string last_error;
  std::vector<hocket::Reduction> scaled;  // by op - hktNumOps
};

namespace hocket {

/// Of what may outlive its communicator.
class CommReference {
 public:
  explicit CommReference(hktComm* comm) : comm_(comm), alive_(comm->alive) {}
  /// Null once it is destroyed.
  [[nodiscard]] hktComm* get() const { return alive_.expired() ? nullptr : comm_; }

 private:
  hktComm* comm_;
  std::weak_ptr<void> alive_;
};

}  // namespace hocket

struct hktRequest {
  hocket::Work work;
  hocket::CommReference comm;
};

struct hktPlan {
  hocket::PersistentCall call;
  hocket::CommReference comm;
};

namespace hocket {

[[nodiscard]] hktResult_t result_of(Code code);
/// Keeps the words for hktGetLastError, of the communicator or of this thread.
hktResult_t keep_error(hktComm* comm, const Error& error);
[[nodiscard]] const char* error_of_thread();

/// Runs `body`, which gives a Result<void>; nothing leaves it but a result.
template <class Body>
hktResult_t guarded(hktComm* comm, Body&& body) noexcept {
  try {
    const Result<void> result = body();
    return result ? hktSuccess : keep_error(comm, result.error());
  } catch (const std::bad_alloc&) {
    return hktSystemError;
  } catch (const std::exception& error) {
    try {
      return keep_error(comm, {Code::kInternal, error.what()});
    } catch (const std::exception&) {
      return hktInternalError;
    }
  }
}

[[nodiscard]] Result<void> require(const void* pointer, const char* name);

}  // namespace hocket
