// Barriers among blocks. All blocks of the grid are resident. Block 0 arrives late.
#include <cooperative_groups.h>

#include "cases.h"

// Some time of computation in block 0 only.
__device__ __forceinline__ float uneven_work(const float* data, unsigned n) {
  float x = data[ELEMENT];
  if (blockIdx.x == 0) {
    for (unsigned i = 0; i < 16 * n; ++i) x = x * 1.0001f + 0.5f;
  }
  return x;
}

CASE(wait_grid_sync_once) {
  const float x = uneven_work(data, 8 * n);
  cooperative_groups::this_grid().sync();
  out[ELEMENT] = x;
}
// Counts arrivals; each round has a higher target.
CASE(wait_counting_barrier) {
  float x = 0;
  for (unsigned round = 1; round <= 8; ++round) {
    x += uneven_work(data, n);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(word + 32, 1);
      while (volatile_load(word + 32) < round * gridDim.x) {
      }
    }
    __syncthreads();
  }
  out[ELEMENT] = x;
}
CASE(wait_sense_barrier) {
  float x = 0;
  unsigned sense = 0;
  for (int round = 0; round < 8; ++round) {
    x += uneven_work(data, n);
    __syncthreads();
    if (threadIdx.x == 0) {
      sense ^= 1;
      __threadfence();
      if (atomicInc(word + 32, gridDim.x - 1) == gridDim.x - 1) {
        store_release(word + 64, sense);
      } else {
        while (load_acquire(word + 64) != sense) {
        }
      }
    }
    __syncthreads();
  }
  out[ELEMENT] = x;
}
// Block 0 waits for a flag of each block, one flag per thread, then releases all blocks.
CASE(wait_flag_array_barrier) {
  float x = 0;
  for (unsigned round = 1; round <= 8; ++round) {
    x += uneven_work(data, n);
    __syncthreads();
    if (blockIdx.x == 0) {
      if (threadIdx.x > 0 && threadIdx.x < gridDim.x) {
        while (volatile_load(word + threadIdx.x * 32) < round) {
        }
      }
      __syncthreads();
      if (threadIdx.x > 0 && threadIdx.x < gridDim.x) volatile_store(word + (64 + threadIdx.x) * 32, round);
    } else {
      if (threadIdx.x == 0) {
        __threadfence();
        volatile_store(word + blockIdx.x * 32, round);
        while (volatile_load(word + (64 + blockIdx.x) * 32) < round) {
        }
      }
      __syncthreads();
    }
  }
  out[ELEMENT] = x;
}
CASE(wait_dissemination_barrier) {
  float x = 0;
  for (unsigned round = 1; round <= 8; ++round) {
    x += uneven_work(data, n);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned step = 0; (1u << step) < gridDim.x; ++step) {
        const unsigned partner = (blockIdx.x + (1u << step)) % gridDim.x;
        store_release(word + (step * 128 + partner) * 8, round);
        while (load_acquire(word + (step * 128 + blockIdx.x) * 8) < round) {
        }
      }
    }
    __syncthreads();
  }
  out[ELEMENT] = x;
}
CASE(work_jacobi) {
  __shared__ float cells[2][1024];
  cells[0][threadIdx.x] = data[ELEMENT];
  __syncthreads();
  for (unsigned i = 0; i < 64 * n; ++i) {
    const float left = cells[i & 1][threadIdx.x == 0 ? 0 : threadIdx.x - 1];
    const float right = cells[i & 1][threadIdx.x + 1 == blockDim.x ? threadIdx.x : threadIdx.x + 1];
    cells[(i + 1) & 1][threadIdx.x] = 0.5f * (left + right);
    __syncthreads();
  }
  out[ELEMENT] = cells[0][threadIdx.x];
}
CASE(work_last_block) {
  __shared__ bool last;
  out[ELEMENT] = data[ELEMENT];
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(word + 32, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned i = threadIdx.x; i < 64 * n; i += blockDim.x) sum += *(volatile float*)&out[i % kElements];
  out[threadIdx.x] = sum;
}
CASE(work_tiles_with_barriers) {
  __shared__ float tile[1024];
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    tile[threadIdx.x] = data[(ELEMENT + i * 8192) % kElements];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += tile[(threadIdx.x + k) % blockDim.x];
    __syncthreads();
  }
  out[ELEMENT] = sum;
}
