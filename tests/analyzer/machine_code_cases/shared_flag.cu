// Words in shared memory.
#include "cases.h"

CASE(wait_shared_flag) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    float x = data[ELEMENT];
    for (unsigned i = 0; i < 64 * n; ++i) x = x * 1.0001f + 0.5f;
    out[ELEMENT] = x;
    __syncwarp();
    if (threadIdx.x == 0) *(volatile unsigned*)&flag = 1;
  } else {
    while (*(volatile unsigned*)&flag == 0) {
    }
  }
}
CASE(wait_shared_counter) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    float x = data[ELEMENT];
    for (unsigned i = 0; i < 64 * n; ++i) x = x * 1.0001f + 0.5f;
    out[ELEMENT] = x;
    atomicAdd(&count, 1);
  } else {
    while (atomicAdd(&count, 0) < 32) {
    }
  }
}
// The relay: one thread polls global memory and sets a flag in shared memory, which the others poll.
CASE(wait_relay) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (volatile_load(WORD(0)) == 0) {
    }
    *(volatile unsigned*)&flag = 1;
  } else if (threadIdx.x >= 32) {
    while (*(volatile unsigned*)&flag == 0) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_shared_histogram) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = 0; i < n; ++i) atomicAdd(&bins[index[(ELEMENT + 512 * i) % kElements] & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) out[ELEMENT] = bins[threadIdx.x];
}
CASE(work_bitonic_sort) {
  __shared__ float keys[1024];
  keys[threadIdx.x] = data[ELEMENT];
  __syncthreads();
  for (unsigned round = 0; round < n / 16; ++round) {
    for (unsigned size = 2; size <= blockDim.x; size *= 2) {
      for (unsigned step = size / 2; step > 0; step /= 2) {
        const unsigned other = threadIdx.x ^ step;
        if (other > threadIdx.x && (keys[threadIdx.x] > keys[other]) == ((threadIdx.x & size) == 0)) {
          const float x = keys[threadIdx.x];
          keys[threadIdx.x] = keys[other];
          keys[other] = x;
        }
        __syncthreads();
      }
    }
  }
  out[ELEMENT] = keys[threadIdx.x];
}
CASE(work_shared_list) {
  __shared__ int next[1024];
  next[threadIdx.x] = (threadIdx.x * 5 + 1) % blockDim.x;
  __syncthreads();
  int at = threadIdx.x;
  for (unsigned i = 0; i < 16 * n; ++i) at = *(volatile int*)&next[at];
  out[ELEMENT] = at;
}
