// Waits of blocks for each other, as programs write them. No wic code.
#pragma once

#include <cooperative_groups.h>

constexpr unsigned long long kDeadlineNs = 15'000'000'000;  // every wait gives up after this

__device__ inline unsigned long long now_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ inline unsigned mixed(unsigned a, unsigned b) { return (a ^ b) * 2654435761u + 12345u; }

/// Block b waits for block b-1, and block 0 for the last block of the round before.
template <bool has_deadline>
__device__ inline void chain_of_blocks(volatile unsigned* flags, unsigned* values, int rounds, unsigned* failed) {
  const unsigned before = blockIdx.x == 0 ? gridDim.x - 1 : blockIdx.x - 1;
  const unsigned long long deadline = has_deadline ? now_ns() + kDeadlineNs : 0;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    if (threadIdx.x == 0) {
      const unsigned wanted = blockIdx.x == 0 ? round - 1 : round;
      while (flags[before * 32] < wanted) {
        if (has_deadline && now_ns() > deadline) {
          *failed = 1;
          break;
        }
      }
      __threadfence();
    }
    __syncthreads();
    const unsigned i = threadIdx.x;
    values[blockIdx.x * blockDim.x + i] =
        mixed(*(volatile unsigned*)&values[before * blockDim.x + i], blockIdx.x * 131 + round);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x * 32] = round;
  }
}

/// A barrier of the grid by a counter: every block needs what every other one wrote.
__device__ inline void counter_rounds(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    volatile unsigned* const to = values + (round & 1) * all;
    to[blockIdx.x * blockDim.x + threadIdx.x] = mine;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1u);
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        if (now_ns() > deadline) {
          *failed = 1;
          break;
        }
      } while (seen < round * gridDim.x);
    }
    __syncthreads();
    mine = mixed(mine, to[(blockIdx.x * blockDim.x + threadIdx.x + 37 * blockDim.x) % all]);
    __syncthreads();
  }
  values[2 * all + blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

/// The barrier of cooperative groups.
__device__ inline void grid_sync_rounds(unsigned* values, int rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const unsigned all = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mine = own;
  for (int round = 1; round <= rounds; ++round) {
    volatile unsigned* const to = values + (round & 1) * all;
    to[own] = mine;
    grid.sync();
    mine = (mine ^ to[(own + 37 * blockDim.x) % all]) * 2654435761u + round;
  }
  values[2 * all + own] = mine;
}
