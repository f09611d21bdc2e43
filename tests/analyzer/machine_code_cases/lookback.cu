// Decoupled look-back as in scans of one pass, and scans that wait for nobody.
#include "cases.h"

// Each block waits for its predecessor's sum.
CASE(wait_chained_scan) {
  __shared__ unsigned before;
  float x = data[ELEMENT];
  for (unsigned i = 0; i < 4 * n; ++i) x = x * 1.0001f + 0.5f;
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    if (blockIdx.x > 0) {
      while ((sum = volatile_load(word + (blockIdx.x - 1) * 32)) == 0) {
      }
    }
    before = sum;
    __threadfence();
    volatile_store(word + blockIdx.x * 32, sum + 1);
  }
  __syncthreads();
  out[ELEMENT] = x + before;
}
// A warp reads the states of 32 predecessors until all of them are there.
CASE(wait_warp_look_back) {
  if (threadIdx.x < 32) {
    const unsigned* state = word + (((blockIdx.x & 63) * 16 + threadIdx.x % 16) * 32);
    unsigned value;
    do value = volatile_load(state);
    while (__any_sync(0xffffffff, value == 0));
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_warp_look_back_sleep) {
  if (threadIdx.x < 32) {
    const unsigned* state = word + (((blockIdx.x & 63) * 16 + threadIdx.x % 16) * 32);
    unsigned value = load_relaxed(state), ns = 30;
    while (!__all_sync(0xffffffff, value != 0)) {
      __nanosleep(ns);
      ns = ns / 2 + 20;
      value = load_relaxed(state);
    }
    __threadfence();
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_look_back_fence) {
  const unsigned* state = WORD(threadIdx.x & 15);
  while (volatile_load(state) == 0) __threadfence_block();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_warp_scan) {
  float total = 0;
  for (unsigned i = 0; i < n; ++i) {
    float x = data[(ELEMENT + 1024 * i) % kElements];
    for (int step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(0xffffffff, x, step);
      if ((threadIdx.x & 31) >= step) x += other;
    }
    total += x;
  }
  out[ELEMENT] = total;
}
CASE(work_vote_search) {
  unsigned at = ELEMENT & ~31u;
  bool found;
  do {
    found = __any_sync(0xffffffff, index[(at + (threadIdx.x & 31)) % kElements] == 17);
    at += 32;
  } while (!found && at < 64 * n * 32);
  out[ELEMENT] = at;
}
CASE(work_warp_converges) {
  float x = data[ELEMENT] + 1;
  unsigned rounds = 0;
  while (__any_sync(0xffffffff, x > 1e-3f) && rounds++ < 64 * n) x *= 0.9995f;
  out[ELEMENT] = x;
}
