// One thread waits for its block or warp.
#include "cases.h"

CASE(wait_leader) {
  if (threadIdx.x == 0) {
    while (volatile_load(WORD(0)) < want) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_leader_of_1024) {
  if (threadIdx.x == 0) {
    while (load_acquire(WORD(0)) != want) {
    }
  }
  __syncthreads();
  float x = data[ELEMENT];
  for (int i = 0; i < 16; ++i) x = x * x + 0.25f;
  out[ELEMENT] = x;
}
// The shape of cuSync: a peeled load, then acquire loads.
CASE(wait_tile_semaphore) {
  if (threadIdx.x == 0) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(WORD(0)));
    while (value < want) {
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(WORD(0)));
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_warp_leader) {
  if ((threadIdx.x & 31) == 0) {
    while (volatile_load(WORD(0)) == 0) {
    }
  }
  __syncwarp();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_named_barrier) {
  if (threadIdx.x < 32) {
    while (load_relaxed(WORD(0)) == 0) {
    }
    __threadfence();
  }
  asm volatile("bar.sync 3, 128;" ::: "memory");
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_broadcast_through_shared) {
  __shared__ unsigned value;
  if (threadIdx.x == 0) {
    unsigned seen;
    while ((seen = volatile_load(WORD(0))) == 0) {
    }
    value = seen;
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT] * value;
}
CASE(work_block_reduction) {
  __shared__ float sums[1024];
  float total = 0;
  for (unsigned i = 0; i < n; ++i) {
    sums[threadIdx.x] = data[(ELEMENT + i * 512) % kElements];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
      __syncthreads();
    }
    total += sums[0];
    __syncthreads();
  }
  out[ELEMENT] = total;
}
CASE(work_leader_computes) {
  __shared__ float value;
  if (threadIdx.x == 0) {
    float x = data[blockIdx.x];
    for (unsigned i = 0; i < 64 * n; ++i) x = x * 0.999f + data[(i * 33) % kElements];
    value = x;
  }
  __syncthreads();
  out[ELEMENT] = value;
}
CASE(work_leader_searches) {
  __shared__ int place;
  if (threadIdx.x == 0) {
    int i = blockIdx.x;
    while (i + 1 < (int)kElements && index[i] != (int)(blockIdx.x + n)) ++i;
    place = i;
  }
  __syncthreads();
  out[ELEMENT] = place;
}
