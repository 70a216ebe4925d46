// Two ranks on two cores: a 64 MiB f32 all-reduce against both cores copying 64 MiB each between buffers of their own,
// interleaved in one run. Prints medians, spread, ratio and rates, and the cost per op of an 8-byte all-reduce.
// Usage: bench_inproc_allreduce [pairs] [segment bytes]
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/say.h"
#include "engine/executor.h"
#include "schedule/builder.h"

namespace hocket {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kElements = std::int64_t{16} << 20;
constexpr std::uint32_t kRanks = 2;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Result<Plan> ring_of_two(std::int64_t count, Bytes segment) {
  const Collective collective{CollectiveKind::kAllReduce, kRanks, 0};
  ScheduleBuilder builder(collective, {.pieces_per_block = kRanks}, "ring");
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    const std::uint32_t peer = 1 - r;
    builder.send(r, peer, {Buffer::kInput, peer, 1});
    builder.recv_reduce(r, peer, {Buffer::kInput, r, 1}, {Buffer::kOutput, r, 1});
    builder.send(r, peer, {Buffer::kOutput, r, 1});
    builder.recv(r, peer, {Buffer::kOutput, peer, 1});
  }
  HOCKET_TRY_ASSIGN(Schedule schedule, std::move(builder).finish());
  HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
  return Plan::bind(std::move(verified), {collective, count, DataType::kF32, ReduceOp::kSum}, segment);
}

struct Spread {
  explicit Spread(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    median = samples[samples.size() / 2];
    low = samples.front();
    high = samples.back();
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:.2f} ms ({:.2f} .. {:.2f})", median * 1e3, low * 1e3, high * 1e3);
  }
  double median;
  double low;
  double high;
};

/// Two threads, each with two buffers of its own; measures the time until both have copied.
class CopyPair {
 public:
  CopyPair() : gate_(2) {
    for (auto& buffer : buffers_) buffer.assign(kElements, 1.0F);
    other_ = std::jthread([this](const std::stop_token& stop) {
      for (;;) {
        gate_.arrive_and_wait();
        if (stop.stop_requested()) return;
        copy(1);
        gate_.arrive_and_wait();
      }
    });
  }
  ~CopyPair() {
    other_.request_stop();
    gate_.arrive_and_wait();
  }
  CopyPair(const CopyPair&) = delete;
  CopyPair& operator=(const CopyPair&) = delete;
  /// memcpy, or the copy kernel that bypasses the caches.
  double measure(bool streaming) {
    streaming_ = streaming;
    gate_.arrive_and_wait();
    const auto start = Clock::now();
    copy(0);
    gate_.arrive_and_wait();
    return seconds_since(start);
  }

 private:
  void copy(std::size_t i) {
    float* target = buffers_[2 * i].data();
    const float* source = buffers_[2 * i + 1].data();
    if (streaming_) {
      copy_kernel()(target, source, kElements * 4, Stores::kStreaming);
    } else {
      std::memcpy(target, source, kElements * 4);
    }
  }
  bool streaming_ = false;
  std::barrier<> gate_;
  std::vector<float> buffers_[4];
  std::jthread other_;
};

Result<double> measure(Executor& executor, std::span<const RankBuffers> buffers) {
  const auto start = Clock::now();
  HOCKET_TRY(executor.run(buffers));
  return seconds_since(start);
}

Result<void> large(int pairs, Bytes segment) {
  HOCKET_TRY_ASSIGN(const Plan plan, ring_of_two(kElements, segment));
  HOCKET_TRY_ASSIGN(const auto executor, Executor::create(plan));
  std::vector<std::vector<float>> memory(2 * kRanks, std::vector<float>(kElements, 1.5F));
  const std::vector<RankBuffers> buffers{{memory[0].data(), memory[1].data()}, {memory[2].data(), memory[3].data()}};
  CopyPair copies;
  std::vector<double> reduce_times;
  std::vector<double> copy_times;
  std::vector<double> streamed_times;
  std::vector<double> ratios;
  for (int i = -2; i < pairs; ++i) {
    HOCKET_TRY_ASSIGN(const double reduce, measure(*executor, buffers));
    const double copy = copies.measure(false);
    const double streamed = copies.measure(true);
    if (i < 0) continue;
    reduce_times.push_back(reduce);
    copy_times.push_back(copy);
    streamed_times.push_back(streamed);
    ratios.push_back(reduce / copy);
  }
  for (const std::size_t at :
       {std::size_t{0}, static_cast<std::size_t>(kElements / 3), static_cast<std::size_t>(kElements - 1)}) {
    if (memory[1][at] != 3.0F || memory[3][at] != 3.0F) return fail(Code::kDisproved, "wrong sum at {}", at);
  }
  const Spread reduce(reduce_times);
  const Spread copy(copy_times);
  const Spread ratio(ratios);
  const double bytes = 4.0 * kElements;
  fmt::print("all-reduce 64 MiB f32, 2 ranks, segment {}: {}, {} a rank\n", format_bytes(segment), reduce.text(),
             format_bandwidth({bytes / reduce.median}));
  fmt::print("copy 64 MiB on each of 2 cores: {}, {} a core\n", copy.text(), format_bandwidth({bytes / copy.median}));
  fmt::print("ratio of medians {:.2f}; pair by pair {:.2f} ({:.2f} .. {:.2f}), {} pairs\n", reduce.median / copy.median,
             ratio.median, ratio.low, ratio.high, pairs);
  const Spread streamed(streamed_times);
  fmt::print("the same copy with streaming stores: {}; ratio to it {:.2f}\n", streamed.text(),
             reduce.median / streamed.median);
  return {};
}

Result<void> small() {
  HOCKET_TRY_ASSIGN(const Plan plan, ring_of_two(2, Plan::kDefaultSegment));
  HOCKET_TRY_ASSIGN(const auto executor, Executor::create(plan));
  float memory[4][2] = {};
  const std::vector<RankBuffers> buffers{{memory[0], memory[1]}, {memory[2], memory[3]}};
  std::vector<double> times;
  for (int i = 0; i < 20000; ++i) {
    HOCKET_TRY_ASSIGN(const double time, measure(*executor, buffers));
    times.push_back(time);
  }
  const Spread spread(times);
  fmt::print("all-reduce 8 B, 2 ranks: median {:.0f} ns a call, {:.0f} ns an op of one rank\n", spread.median * 1e9,
             spread.median * 1e9 / 4);
  return {};
}

}  // namespace
}  // namespace hocket

int main(int argc, char** argv) {
  using namespace hocket;
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::int64_t segment = argc > 2 ? std::atoll(argv[2]) : Plan::kDefaultSegment.count;
  for (const Result<void>& result : {large(std::max(pairs, 1), {std::max<std::int64_t>(segment, 4)}), small()}) {
    if (result) continue;
    say("{}\n", result.error().text);
    return exit_code(result.error().code);
  }
  return 0;
}
