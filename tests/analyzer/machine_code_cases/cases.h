// What all cases share. A case is one kernel: wait_* waits for another thread's store, work_* does not.
#pragma once

#include <cstdint>

// `word`: kWords words that all have one value until the runner gives all of them another one. `bound`: limits in
// memory. `data`, `index`: kElements numbers and a permutation. `n`: the number of rounds. `want`: the second value of
// `word`. `out`: one element per thread.
#define CASE(name)                                                                                                     \
  extern "C" __global__ void name(unsigned* word, unsigned* bound, float* data, int* index, unsigned n, unsigned want, \
                                  float* out)

#define ELEMENT (blockIdx.x * blockDim.x + threadIdx.x)
// A block's words; each is in a line of its own.
#define WORD(i) (word + ((blockIdx.x & 63) * 16 + (i)) * 32)

constexpr unsigned kWords = 64 * 16 * 32;
constexpr unsigned kElements = 1 << 20;

typedef unsigned long long u64;

__device__ __forceinline__ unsigned volatile_load(const unsigned* p) { return *(const volatile unsigned*)p; }
__device__ __forceinline__ void volatile_store(unsigned* p, unsigned value) { *(volatile unsigned*)p = value; }
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ unsigned load_acquire_system(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* p) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(unsigned* p, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ __forceinline__ u64 global_time() {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
