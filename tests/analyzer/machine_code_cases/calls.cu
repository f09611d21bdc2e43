// Waits and work behind calls of functions.
#include "cases.h"

__device__ __noinline__ void wait_until_set(const unsigned* flag, unsigned want) {
  while (volatile_load(flag) < want) {
  }
}
__device__ __noinline__ unsigned read_word(const unsigned* flag) { return volatile_load(flag); }
__device__ __noinline__ bool ready(const unsigned* flag, unsigned want) { return load_acquire(flag) >= want; }
__device__ __noinline__ float refine(float x, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) x = 0.5f * (x + 2.0f / x);
  return x;
}
__device__ __noinline__ unsigned scramble(unsigned x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ (x >> 13);
}

CASE(wait_in_function) {
  wait_until_set(WORD(0), want);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_in_function_leader) {
  if (threadIdx.x == 0) wait_until_set(WORD(0), want);
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_reads_by_function) {
  while (read_word(WORD(0)) != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_predicate_function_leader) {
  if (threadIdx.x == 0) {
    while (!ready(WORD(0), want)) __nanosleep(40);
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_calls_until_stop) {
  float x = data[ELEMENT];
  unsigned rounds = 0;
  while (volatile_load(bound + 5) == 0 && rounds++ < n) x = refine(x, 64);
  out[ELEMENT] = x;
}
CASE(work_calls_to_bound) {
  unsigned x = ELEMENT;
  for (unsigned i = 0; i < volatile_load(bound); ++i) x = scramble(x);
  out[ELEMENT] = x;
}
CASE(work_call_chain) {
  float x = data[ELEMENT] + 1;
  for (unsigned i = 0; i < n; ++i) x = refine(x, 8) + scramble(i);
  out[ELEMENT] = x;
}
