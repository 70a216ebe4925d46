// What a caller can do wrong with the objects of the interface: those that hold nothing, words that are none, memory
// beyond what there is, a stderr that takes nothing. Each is an error, and the communicator goes on.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hocket.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "support/api_ranks.h"

namespace hocket {
namespace {

template <class T>
void expect_refused(const Result<T>& result, const std::string& said) {
  ASSERT_FALSE(result) << said;
  EXPECT_EQ(result.error().code, Code::kInvalidArgument) << result.error().text;
  EXPECT_NE(result.error().text.find(said), std::string::npos) << result.error().text;
}

Result<Communicator> alone() {
  CommunicatorOptions options;
  options.rank = 0;
  options.size = 1;
  return Communicator::create(options);
}

TEST(ApiHandles, MemoryBeyondWhatThereIsIsRefusedAndNotTaken) {
  const Result<void*> memory = allocate_memory(std::size_t{1} << 50);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, Code::kResourceExhausted);
  EXPECT_NE(memory.error().text.find("no 1125899906"), std::string::npos) << memory.error().text;
  EXPECT_NE(memory.error().text.find("GiB are available"), std::string::npos) << memory.error().text;
  void* taken = nullptr;
  EXPECT_EQ(hktMemAlloc(&taken, std::size_t{1} << 50), hktSystemError);
  EXPECT_EQ(taken, nullptr);
}

TEST(ApiHandles, ADebugLineThatCannotBeWrittenFailsNothing) {
  test::expect_well(test::run_forked(2, [](std::uint32_t) -> std::string {
    const int full = ::open("/dev/full", O_WRONLY);
    if (full < 0 || ::dup2(full, STDERR_FILENO) < 0) return "no /dev/full";
    ::setenv("HOCKET_DEBUG", "3", 1);  // NOLINT(concurrency-mt-unsafe): one thread so far
    hktComm_t comm = nullptr;
    if (hktCommInitEnv(&comm, nullptr) != hktSuccess) return hktGetLastError(nullptr);
    float value = 1;
    if (hktAllReduce(&value, &value, 1, hktFloat32, hktSum, comm, nullptr) != hktSuccess) return hktGetLastError(comm);
    if (hktCommDestroy(comm) != hktSuccess) return "destroy";
    return value == 2.0F ? "" : "wrong data";
  }));
}

}  // namespace
}  // namespace hocket
