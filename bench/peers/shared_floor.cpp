// What no all-reduce through memory can be faster than here: all vectors lie in one process, each thread reads its part
// of all of them and writes the sum back to all of them, once. fp32 sum, as many vectors as ranks, at most two threads.
// Usage: shared_floor RANKS BYTES ITERATIONS WARMUP; prints microseconds.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using std::chrono::steady_clock;
using Vectors = std::vector<std::vector<float>>;

constexpr std::size_t kBlock = 4096;  // elements: what is summed stays in the caches

void one_pass(Vectors& vectors, std::size_t begin, std::size_t end) {
  for (; begin < end; begin += kBlock) {
    const std::size_t stop = begin + kBlock < end ? begin + kBlock : end;
    float* const first = vectors.front().data();
    for (std::size_t r = 1; r < vectors.size(); ++r) {
      const float* const other = vectors[r].data();
      for (std::size_t i = begin; i < stop; ++i) first[i] += other[i];
    }
    for (std::size_t r = 1; r < vectors.size(); ++r) {
      float* const other = vectors[r].data();
      for (std::size_t i = begin; i < stop; ++i) other[i] = first[i];
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto count = static_cast<std::size_t>(std::atoll(argv[2])) / sizeof(float);
  Vectors vectors(static_cast<std::size_t>(std::atoi(argv[1])), std::vector<float>(count));
  const int iterations = std::atoi(argv[3]), warmup = std::atoi(argv[4]);
  std::atomic<int> go{0}, done{0};
  std::thread other([&] {
    for (int i = 1; i <= iterations + warmup; ++i) {
      while (go.load(std::memory_order_acquire) < i) {
      }
      one_pass(vectors, count / 2, count);
      done.store(i, std::memory_order_release);
    }
  });
  auto begin = steady_clock::now();
  for (int i = 1; i <= iterations + warmup; ++i) {
    if (i == warmup + 1) begin = steady_clock::now();
    go.store(i, std::memory_order_release);
    one_pass(vectors, 0, count / 2);
    while (done.load(std::memory_order_acquire) < i) {
    }
  }
  const std::chrono::duration<double, std::micro> time = steady_clock::now() - begin;
  other.join();
  std::printf("%.3f\n", time.count() / iterations);
  return 0;
}
