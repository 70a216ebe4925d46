// The all-reduces of Gloo over loopback, timed as mpi_all_reduce.c times MPI's, in place.
// Usage: gloo_all_reduce RANK SIZE FOLDER ring_chunked|halving_doubling BYTES ITERATIONS WARMUP; rank 0 prints
// microseconds. FOLDER is where the ranks find each other, empty at the start.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using std::chrono::steady_clock;

std::unique_ptr<gloo::Algorithm> algorithm_named(const std::string& name,
                                                 const std::shared_ptr<gloo::rendezvous::Context>& context,
                                                 std::vector<float>& values) {
  const std::vector<float*> places{values.data()};
  const int count = static_cast<int>(values.size());
  if (name == "ring_chunked") return std::make_unique<gloo::AllreduceRingChunked<float>>(context, places, count);
  if (name == "halving_doubling")
    return std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context, places, count);
  return nullptr;
}

double mean_over_ranks(const std::shared_ptr<gloo::rendezvous::Context>& context, double mine) {
  gloo::AllreduceOptions options(context);
  options.setOutput(&mine, 1);
  options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<double>));
  gloo::allreduce(options);
  return mine / context->size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const int rank = std::atoi(argv[1]), size = std::atoi(argv[2]);
  gloo::transport::tcp::attr where;
  where.hostname = "127.0.0.1";
  gloo::rendezvous::FileStore store(argv[3]);
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(std::chrono::seconds(60));
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(where);
  context->connectFullMesh(store, device);
  std::vector<float> values(static_cast<std::size_t>(std::atoll(argv[5])) / sizeof(float));
  const auto algorithm = algorithm_named(argv[4], context, values);
  if (!algorithm) return 2;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) + static_cast<float>(rank);
  algorithm->run();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == static_cast<float>(size * static_cast<int>(i % 13) + size * (size - 1) / 2)) continue;
    std::fprintf(stderr, "gloo_all_reduce: wrong data\n");
    return 1;
  }
  values.assign(values.size(), 0.0F);  // sums of sums would soon be beyond floats
  const int iterations = std::atoi(argv[6]), warmup = std::atoi(argv[7]);
  for (int i = 0; i < warmup; ++i) algorithm->run();
  gloo::BarrierOptions together(context);
  gloo::barrier(together);
  const auto begin = steady_clock::now();
  for (int i = 0; i < iterations; ++i) algorithm->run();
  const std::chrono::duration<double, std::micro> mine = steady_clock::now() - begin;
  const double mean = mean_over_ranks(context, mine.count() / iterations);
  if (rank == 0) std::printf("%.3f\n", mean);
  return 0;
}
