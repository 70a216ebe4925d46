// The all-reduce of an MPI library, timed as `hocket bench` times ours: out of place, fp32 sum, mean over the
// iterations of one measurement, averaged over ranks; every result is checked.
// Usage: mpi_all_reduce BYTES ITERATIONS WARMUP; rank 0 prints microseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char* words) {
  fprintf(stderr, "mpi_all_reduce: %s\n", words);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void reduce(const float* in, float* out, int count) {
  if (MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) fail("the all-reduce failed");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) fail("usage: mpi_all_reduce BYTES ITERATIONS WARMUP");
  const int count = (int)(atoll(argv[1]) / (long long)sizeof(float));
  const int iterations = atoi(argv[2]), warmup = atoi(argv[3]);
  float* in = malloc((size_t)count * sizeof(float) + 1);
  float* out = malloc((size_t)count * sizeof(float) + 1);
  if (in == NULL || out == NULL) fail("no memory");
  for (int i = 0; i < count; ++i) in[i] = (float)(i % 13 + rank);
  for (int i = 0; i < count; ++i) out[i] = -1;
  for (int i = 0; i < warmup; ++i) reduce(in, out, count);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) reduce(in, out, count);
  const double mine = (MPI_Wtime() - begin) * 1e6 / iterations;
  double sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    if (out[i] != (float)(size * (i % 13) + size * (size - 1) / 2)) fail("wrong data");
  }
  if (rank == 0) printf("%.3f\n", sum / size);
  MPI_Finalize();
  return 0;
}
