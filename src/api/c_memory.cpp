// Memory that ranks of one host map, by hocket.h.
#include "api/c_objects.h"
#include "transport/shared_memory.h"

using hocket::Code;
using hocket::Result;

extern "C" {

hktResult_t hktMemAlloc(void** ptr, size_t size) {
  return hocket::guarded(nullptr, [&]() -> Result<void> {
    HOCKET_TRY(hocket::require(ptr, "ptr"));
    HOCKET_TRY_ASSIGN(*ptr, hocket::allocate_memory(size));
    return {};
  });
}

hktResult_t hktMemFree(void* ptr) {
  return hocket::guarded(nullptr, [&]() -> Result<void> { return hocket::free_memory(ptr); });
}

hktResult_t hktCommRegister(hktComm_t comm, void* buff, size_t size, void** handle) {
  return hocket::guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(hocket::require(comm, "comm"));
    HOCKET_TRY(hocket::require(buff, "buff"));
    HOCKET_TRY(hocket::require(handle, "handle"));
    const std::optional<hocket::SharedRange> range = hocket::SharedMemory::at(buff);
    if (range && size > range->bytes)
      return hocket::fail(Code::kInvalidArgument, "{} bytes are to be registered at {}, which has {}", size, buff,
                          range->bytes);
    HOCKET_TRY(comm->communicator.register_memory(buff));
    *handle = buff;
    return {};
  });
}

hktResult_t hktCommDeregister(hktComm_t comm, void* handle) {
  return hocket::guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(hocket::require(comm, "comm"));
    return comm->communicator.deregister_memory(handle);
  });
}

}  // extern "C"
