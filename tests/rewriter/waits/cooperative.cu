// Cooperative groups: barriers of the grid wait; tiles and blocks work.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "common.h"

namespace cg = cooperative_groups;

KERNEL wait_grid_sync(float* a, float* b) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] *= 2;
  cg::this_grid().sync();
  b[i] = a[i ^ 256];
}
KERNEL wait_grid_sync_each_step(float* a, float* b, int steps) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = grid.thread_rank();
  for (int step = 0; step < steps; ++step) {
    b[i] = 0.5f * (a[i] + a[i + 1]);
    grid.sync();
    float* const swap = a;
    a = b;
    b = swap;
  }
}
KERNEL wait_grid_arrive_then_wait(float* a, float* b) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = grid.thread_rank();
  a[i] *= 2;
  auto token = grid.barrier_arrive();
  b[i] = i;
  grid.barrier_wait(std::move(token));
  b[i] += a[i ^ 256];
}
KERNEL wait_own_barrier_of_blocks(unsigned* arrived, float* a) {
  cg::thread_block block = cg::this_thread_block();
  a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
  block.sync();
  if (block.thread_rank() == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (volatile_load(arrived) < gridDim.x) {
    }
    __threadfence();
  }
  block.sync();
  a[blockIdx.x * blockDim.x + threadIdx.x] *= a[0];
}
KERNEL wait_leader_of_tile(const unsigned* flags, unsigned want, float* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  if (tile.thread_rank() == 0) {
    while (load_acquire(flags + tile.meta_group_rank()) != want) {
    }
  }
  tile.sync();
  out[threadIdx.x] += 1;
}
KERNEL wait_sense_of_grid(unsigned* count, unsigned* sense, unsigned sense_of_round, float* a) {
  a[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      __threadfence();
      *(volatile unsigned*)sense = sense_of_round;
    } else {
      while (*(volatile unsigned*)sense != sense_of_round) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
KERNEL work_tile_sum(const float* in, float* out, unsigned n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += tile.shfl_down(sum, distance);
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}
KERNEL work_until_no_lane_moves(float* x, float eps) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float value = x[threadIdx.x];
  float change;
  do {
    const float next = 0.5f * (value + tile.shfl_xor(value, 1));
    change = fabsf(next - value);
    value = next;
  } while (tile.any(change > eps));
  x[threadIdx.x] = value;
}
KERNEL work_bitonic(unsigned* keys) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ unsigned s[512];
  s[threadIdx.x] = keys[threadIdx.x];
  block.sync();
  for (unsigned size = 2; size <= 512; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const unsigned other = threadIdx.x ^ stride;
      if (other > threadIdx.x && (s[threadIdx.x] > s[other]) == ((threadIdx.x & size) == 0)) {
        const unsigned swap = s[threadIdx.x];
        s[threadIdx.x] = s[other];
        s[other] = swap;
      }
      block.sync();
    }
  }
  keys[threadIdx.x] = s[threadIdx.x];
}
KERNEL work_reduce_of_block(const int* in, int* out, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += cg::reduce(tile, in[i], cg::plus<int>());
  out[threadIdx.x] = sum;
}
KERNEL work_append_by_group(const int* in, int* out, int* count, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (in[i] > 0) {
      auto group = cg::coalesced_threads();
      int base = 0;
      if (group.thread_rank() == 0) base = atomicAdd(count, group.size());
      out[group.shfl(base, 0) + group.thread_rank()] = in[i];
    }
  }
}
