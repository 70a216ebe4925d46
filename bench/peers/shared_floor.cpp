// What no all-reduce through memory can be faster than here: all vectors lie in one process, each thread reads its part
// of all of them and writes the sum back to all of them, once. With `private`, what no all-reduce of private buffers
// can be faster than: only its rank touches a vector, so that all it gives or gets is copied through a block that they
// share, which stays in the caches. Nobody waits for anybody. fp32 sum, as many vectors as ranks, two threads. Usage:
// shared_floor RANKS BYTES ITERATIONS WARMUP [private]; prints microseconds.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

using std::chrono::steady_clock;
using Vectors = std::vector<std::vector<float>>;

constexpr std::size_t kBlock = 4096;  // elements: what is summed stays in the caches
constexpr std::size_t kPastMin = std::size_t{32} << 20;

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

/// Past the caches when the results do not fit in there anyway.
void put(float* to, const float* from, std::size_t count, bool past) {
#if defined(__AVX2__)
  for (; past && count > 0 && reinterpret_cast<std::uintptr_t>(to) % sizeof(__m256i) != 0; --count) *to++ = *from++;
  for (; past && count >= 8; count -= 8, to += 8, from += 8) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
#endif
  std::memcpy(to, from, count * sizeof(float));
}

/// The blocks belong to the ranks in turns: each adds what the others give of its own and gives them the sum.
void one_private_pass(const Vectors& from, Vectors& to, std::size_t begin, std::size_t end, Vectors& shared) {
  const bool past = from.front().size() * sizeof(float) >= kPastMin;
  for (std::size_t owner = 0; begin < end; begin += kBlock, owner = (owner + 1) % from.size()) {
    const std::size_t count = begin + kBlock < end ? kBlock : end - begin;
    float* const sum = shared[owner].data();
    const float* own = from[owner].data() + begin;
    for (std::size_t r = 0; r < from.size(); ++r) {
      if (r != owner) std::memcpy(shared[r].data(), from[r].data() + begin, count * sizeof(float));
    }
    for (std::size_t r = 0; r < from.size(); ++r) {
      if (r == owner) continue;
      const float* const other = shared[r].data();
      for (std::size_t i = 0; i < count; ++i) sum[i] = own[i] + other[i];
      own = sum;
    }
    for (std::size_t r = 0; r < from.size(); ++r) put(to[r].data() + begin, sum, count, past);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool own = argc == 6 && std::strcmp(argv[5], "private") == 0;
  if (argc != 5 && !own) return 2;
  const auto count = static_cast<std::size_t>(std::atoll(argv[2])) / sizeof(float);
  Vectors vectors(static_cast<std::size_t>(std::atoi(argv[1])), std::vector<float>(count));
  Vectors results(own ? vectors.size() : 0, std::vector<float>(count));
  const auto pass = [&, own](std::size_t from, std::size_t to, Vectors& shared) {
    own ? one_private_pass(vectors, results, from, to, shared) : one_pass(vectors, from, to);
  };
  const Vectors blocks(vectors.size(), std::vector<float>(kBlock));
  const int iterations = std::atoi(argv[3]), warmup = std::atoi(argv[4]);
  std::atomic<int> go{0}, done{0};
  std::thread other([&] {
    Vectors shared = blocks;
    for (int i = 1; i <= iterations + warmup; ++i) {
      while (go.load(std::memory_order_acquire) < i) {
      }
      pass(count / 2, count, shared);
      done.store(i, std::memory_order_release);
    }
  });
  Vectors shared = blocks;
  auto begin = steady_clock::now();
  for (int i = 1; i <= iterations + warmup; ++i) {
    if (i == warmup + 1) begin = steady_clock::now();
    go.store(i, std::memory_order_release);
    pass(0, count / 2, shared);
    while (done.load(std::memory_order_acquire) < i) {
    }
  }
  const std::chrono::duration<double, std::micro> time = steady_clock::now() - begin;
  other.join();
  std::printf("%.3f\n", time.count() / iterations);
  return 0;
}
