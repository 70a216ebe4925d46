// The all-reduce of oneCCL, timed as mpi_all_reduce.c times MPI's.
// Usage: oneccl_all_reduce BYTES ITERATIONS WARMUP; rank 0 prints microseconds.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <oneapi/ccl.hpp>
#include <vector>

int main(int argc, char** argv) {
  ccl::init();
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) return 2;
  {
    ccl::shared_ptr_class<ccl::kvs> store;
    ccl::kvs::address_type address;
    if (rank == 0) {
      store = ccl::create_main_kvs();
      address = store->get_address();
    }
    MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0) store = ccl::create_kvs(address);
    const ccl::communicator ranks = ccl::create_communicator(size, rank, store);
    const auto count = static_cast<std::size_t>(std::atoll(argv[1])) / sizeof(float);
    const int iterations = std::atoi(argv[2]), warmup = std::atoi(argv[3]);
    std::vector<float> in(count), out(count, -1);
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i % 13) + static_cast<float>(rank);
    const auto reduce = [&] { ccl::allreduce(in.data(), out.data(), count, ccl::reduction::sum, ranks).wait(); };
    for (int i = 0; i < warmup; ++i) reduce();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < iterations; ++i) reduce();
    const double mine = (MPI_Wtime() - begin) * 1e6 / iterations;
    double sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i] == static_cast<float>(size * static_cast<int>(i % 13) + size * (size - 1) / 2)) continue;
      std::fprintf(stderr, "oneccl_all_reduce: wrong data\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) std::printf("%.3f\n", sum / size);
  }
  MPI_Finalize();
  return 0;
}
