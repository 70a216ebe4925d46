"""The all-reduce of torch.distributed over Gloo, timed as mpi_all_reduce.c times MPI's, in place.

Usage: torch_all_reduce.py RANK SIZE FILE BYTES ITERATIONS WARMUP; rank 0 prints microseconds. FILE is not there yet."""

import sys
import time

import torch
import torch.distributed as dist


def main():
    rank, size, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    count, iterations, warmup = int(sys.argv[4]) // 4, int(sys.argv[5]), int(sys.argv[6])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=size)
    values = (torch.arange(count) % 13).float() + rank
    dist.all_reduce(values)
    if not torch.equal(values, (torch.arange(count) % 13).float() * size + size * (size - 1) / 2):
        sys.exit("torch_all_reduce: wrong data")
    values.zero_()  # sums of sums would soon be beyond floats
    for _ in range(warmup):
        dist.all_reduce(values)
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(iterations):
        dist.all_reduce(values)
    mine = torch.tensor([(time.perf_counter() - begin) * 1e6 / iterations])
    dist.all_reduce(mine)
    if rank == 0:
        print(f"{mine.item() / size:.3f}")
    dist.destroy_process_group()


main()
