// Real processes with memory that ranks map: collectives out of and into it, by the C++ and the C interface.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hocket.h>

#include <fstream>
#include <string>

#include "support/api_ranks.h"

namespace hocket {
namespace {

using test::connect;
using test::expect_well;
using test::run_forked;

/// Sums of `count` numbers, in place and out of place, in memory that begins at `input` and `output`.
std::string check_sums(Communicator& comm, float* input, float* output, std::int64_t count, int round) {
  const auto ranks = static_cast<float>(comm.size());
  for (const bool in_place : {false, true}) {
    float* const from = in_place ? output : input;
    for (std::int64_t i = 0; i < count; ++i) from[i] = static_cast<float>((i + round) % 1000 + comm.rank());
    SAY_ERROR(comm.all_reduce(from, output, count, DataType::kF32));
    for (std::int64_t i = 0; i < count; ++i) {
      const float right = ranks * static_cast<float>((i + round) % 1000) + ranks * (ranks - 1) / 2;
      if (output[i] != right)
        return fmt::format("element {} of {}, in place {}, round {}: {} instead of {}", i, count, in_place, round,
                           output[i], right);
    }
  }
  return {};
}

/// How many parts of this process's memory are such memory, its own or mapped.
int shared_parts() {
  std::ifstream maps("/proc/self/maps");
  int parts = 0;
  for (std::string line; std::getline(maps, line);) parts += line.find("hocket-buffers") != std::string::npos ? 1 : 0;
  return parts;
}

class ApiMemory : public testing::TestWithParam<int> {};

TEST_P(ApiMemory, RegisteredBuffersAreReadInPlaceAndFreedLater) {
  expect_well(run_forked(static_cast<std::uint32_t>(GetParam()), [](std::uint32_t) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    for (int round = 0; round < 3; ++round) {
      constexpr std::int64_t kMost = 400'003;
      auto input = allocate_memory(kMost * sizeof(float));
      SAY_ERROR(input);
      auto output = allocate_memory(kMost * sizeof(float));
      SAY_ERROR(output);
      SAY_ERROR(comm->register_memory(*input));
      SAY_ERROR(comm->register_memory(*output));
      if (free_memory(*input)) return "registered memory was freed";
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{3000}, kMost}) {
        std::string said = check_sums(*comm, static_cast<float*>(*input), static_cast<float*>(*output), count, round);
        if (!said.empty()) return said;
      }
      if (comm->size() > 1 && shared_parts() <= 2) return "no memory of a peer is mapped";
      for (void* memory : {*input, *output}) {
        SAY_ERROR(comm->deregister_memory(memory));
        SAY_ERROR(free_memory(memory));
      }
    }
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, ApiMemory, testing::Values(1, 2, 4));

TEST(ApiMemoryC, NamesOfNcclAndRefusals) {
  expect_well(run_forked(2, [](std::uint32_t rank) -> std::string {
    hktComm_t comm = nullptr;
    if (hktCommInitEnv(&comm, nullptr) != hktSuccess) return hktGetLastError(nullptr);
    void* memory = nullptr;
    void* handle = nullptr;
    if (hktMemAlloc(&memory, 0) != hktInvalidArgument) return "0 bytes were given";
    if (hktMemAlloc(&memory, 1 << 20) != hktSuccess) return hktGetLastError(nullptr);
    if (hktCommRegister(comm, memory, (1 << 20) + 1, &handle) != hktInvalidArgument) return "too much was registered";
    if (hktCommRegister(comm, memory, 1 << 20, &handle) != hktSuccess) return hktGetLastError(comm);
    if (hktMemFree(memory) != hktInvalidArgument) return "registered memory was freed";
    auto* const values = static_cast<float*>(memory);
    values[0] = static_cast<float>(rank + 1);
    if (hktAllReduce(values, values, 1 << 18, hktFloat32, hktSum, comm, nullptr) != hktSuccess)
      return hktGetLastError(comm);
    if (values[0] != 3) return fmt::format("{} instead of 3", values[0]);
    int elsewhere = 0;
    void* other = nullptr;
    if (hktCommRegister(comm, &elsewhere, sizeof(elsewhere), &other) != hktSuccess) return "a port was refused";
    if (hktCommDeregister(comm, other) != hktSuccess) return hktGetLastError(comm);
    // A communicator that goes gives up what it has registered.
    if (hktCommDestroy(comm) != hktSuccess) return "not destroyed";
    if (hktMemFree(memory) != hktSuccess) return hktGetLastError(nullptr);
    return hktMemFree(&elsewhere) == hktInvalidArgument ? "" : "memory of the stack was freed";
  }));
}

}  // namespace
}  // namespace hocket
