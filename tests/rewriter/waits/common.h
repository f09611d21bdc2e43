// What the cases share. A case is one kernel:
//   wait_*    waits for a store of another thread, in a loop that may be patched
//   either_*  waits, in a way that may be patched or left alone
//   stay_*    waits, and no loop of it may be patched: it writes memory or calls in its loop
//   work_*    waits for nobody
#pragma once

#include <cstdint>

#define KERNEL extern "C" __global__ void

using u64 = unsigned long long;

template <class T>
__device__ __forceinline__ T volatile_load(const T* p) {
  return *(const volatile T*)p;
}
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
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
__device__ __forceinline__ u64 load_relaxed_system(const u64* p) {
  u64 value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ u64 load_acquire_system(const u64* p) {
  u64 value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}
// As cuSync reads its semaphores.
__device__ __forceinline__ int load_cg(const int* p) {
  int value;
  asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(unsigned* p, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ __forceinline__ void store_release_system(unsigned* p, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ __forceinline__ u64 global_time() {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
