// Persistent workers: with and without waits for work.
#include <cooperative_groups.h>

#include "cases.h"

__device__ __noinline__ unsigned next_job(const unsigned* place, unsigned last) {
  unsigned job;
  do job = load_acquire(place);
  while (job == last);
  return job;
}

CASE(wait_for_job) {
  __shared__ unsigned job;
  if (threadIdx.x == 0) {
    unsigned seen;
    while ((seen = load_acquire(WORD(0))) == 0) {
    }
    job = seen;
  }
  __syncthreads();
  float x = data[ELEMENT];
  for (unsigned i = 0; i < job; ++i) x = x * 1.0001f + 0.5f;
  out[ELEMENT] = x;
}
// Takes jobs until one says stop; the idle loop and the loop over jobs have the same head.
CASE(wait_persistent) {
  unsigned last = 0;
  float x = data[ELEMENT];
  for (;;) {
    const unsigned job = volatile_load(WORD(0));
    if (job == last) continue;
    last = job;
    for (unsigned i = 0; i < 64; ++i) x = x * 1.0001f + 0.5f;
    if (job == want) break;
  }
  out[ELEMENT] = x;
}
CASE(wait_for_tail) {
  const unsigned head = want - 1;
  while (volatile_load(WORD(0)) - head == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_for_dependencies) {
  if (threadIdx.x < 8) {
    while (load_acquire(WORD(threadIdx.x)) != want) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
// A pipeline of blocks: each waits for its predecessor's stage counter.
CASE(wait_pipeline) {
  float x = data[ELEMENT];
  for (unsigned stage = 1; stage <= 4; ++stage) {
    if (threadIdx.x == 0 && blockIdx.x > 0) {
      while (load_acquire(word + (blockIdx.x - 1) * 32) < stage) {
      }
    }
    __syncthreads();
    for (unsigned i = 0; i < n; ++i) x = x * 1.0001f + 0.5f;
    __syncthreads();
    if (threadIdx.x == 0) store_release(word + blockIdx.x * 32, stage);
  }
  out[ELEMENT] = x;
}
CASE(wait_job_by_function) {
  __shared__ unsigned job;
  if (threadIdx.x == 0) job = next_job(WORD(0), 0);
  __syncthreads();
  out[ELEMENT] = data[ELEMENT] * job;
}
CASE(wait_grid_sync) {
  float x = 0;
  for (int round = 0; round < 8; ++round) {
    if (blockIdx.x == 0) {
      for (unsigned i = 0; i < 16 * n; ++i) x = x * 1.0001f + data[ELEMENT];
    }
    cooperative_groups::this_grid().sync();
  }
  out[ELEMENT] = x;
}
CASE(work_grabs_tiles) {
  __shared__ unsigned tile;
  float sum = 0;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(word + 32, 1);
    __syncthreads();
    const unsigned mine = tile;
    __syncthreads();
    if (mine >= 16 * n) break;
    for (int k = 0; k < 16; ++k) sum += data[(mine * 1024 + k * 64 + threadIdx.x) % kElements];
  }
  out[ELEMENT] = sum;
}
CASE(work_matrix_product) {
  __shared__ float a[16][17], b[16][17];
  const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16 % 16;
  float sum = 0;
  for (unsigned tile = 0; tile < n; ++tile) {
    a[y][x] = data[(tile * 256 + threadIdx.x) % kElements];
    b[y][x] = data[(tile * 512 + threadIdx.x) % kElements];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  out[ELEMENT] = sum;
}
CASE(work_queue_drain) {
  float sum = 0;
  for (unsigned at = volatile_load(bound + 6); at < volatile_load(bound); ++at) sum += data[(at * 64) % kElements];
  out[ELEMENT] = sum;
}
CASE(work_convolution) {
  float total = 0;
  for (unsigned i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = -4; k <= 4; ++k) sum += data[(ELEMENT + i * 8192 + k + kElements) % kElements] * (k + 5);
    total += sum;
  }
  out[ELEMENT] = total;
}
