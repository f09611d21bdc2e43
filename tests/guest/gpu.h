// What the questions that need a GPU share: kernels that end by themselves, and short names.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "tests/guest/ask.h"

namespace guest {

/// A word that host and GPU see.
struct Word {
  volatile unsigned* at = nullptr;
  Word() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) std::_Exit(97);
    at = static_cast<volatile unsigned*>(memory);
    *at = 0;
  }
  void set(unsigned value = 1) const { *at = value; }
  operator volatile unsigned*() const { return at; }
};

// Kernels. None runs for longer than its deadline.
__device__ inline unsigned long long device_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
static __global__ void busy_kernel(unsigned long long ns) {
  const unsigned long long begin = device_ns();
  while (device_ns() - begin < ns && device_ns() - begin < 2'000'000'000) {
  }
}
/// Until the word is at least `value`, at most two seconds: then it says so, if there is where.
static __global__ void hold_kernel(const volatile unsigned* word, unsigned value, volatile unsigned* timed_out) {
  const unsigned long long begin = device_ns();
  while (*word < value) {
    if (device_ns() - begin > 2'000'000'000) {
      if (timed_out != nullptr) *timed_out = 1;
      return;
    }
  }
}
static __global__ void set_kernel(volatile unsigned* word, unsigned value) { *word = value; }
static __global__ void add_kernel(unsigned* word, unsigned value) { *word += value; }
static __global__ void trap_kernel() { asm volatile("trap;"); }
static __global__ void stray_kernel() { *reinterpret_cast<volatile int*>(16) = 1; }

inline void busy(cudaStream_t stream, double ms) {
  busy_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(ms * 1e6));
}
inline void hold(cudaStream_t stream, const Word& word, unsigned value = 1, const Word* timed_out = nullptr) {
  hold_kernel<<<1, 1, 0, stream>>>(word, value, timed_out == nullptr ? nullptr : timed_out->at);
}
inline void set(cudaStream_t stream, const Word& word, unsigned value = 1) {
  set_kernel<<<1, 1, 0, stream>>>(word, value);
}

inline cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t made = nullptr;
  if (cudaStreamCreateWithFlags(&made, flags) != cudaSuccess) std::_Exit(97);
  return made;
}
inline cudaEvent_t event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t made = nullptr;
  if (cudaEventCreateWithFlags(&made, flags) != cudaSuccess) std::_Exit(97);
  return made;
}

/// Managed, and 0.
inline unsigned* numbers(int count = 1) {
  unsigned* made = nullptr;
  if (cudaMallocManaged(&made, sizeof *made * count) != cudaSuccess) std::_Exit(97);
  for (int i = 0; i < count; ++i) made[i] = 0;
  return made;
}

/// All kernels are loaded before the first one waits for another.
inline void prepare() {
  const Word word;
  word.set();
  unsigned* memory = nullptr;
  if (cudaMalloc(&memory, 64) != cudaSuccess) std::_Exit(97);
  busy(nullptr, 0.01);
  hold(nullptr, word);
  set(nullptr, word);
  add_kernel<<<1, 1>>>(memory, 1);
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, trap_kernel);
  cudaFuncGetAttributes(&attributes, stray_kernel);
  if (cudaDeviceSynchronize() != cudaSuccess) std::_Exit(97);
  cudaFree(memory);
  cudaFreeHost(const_cast<unsigned*>(word.at));
}
inline long long memory_in_use() {
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<long long>(total - free) : 0;
}

}  // namespace guest

#define QUESTIONS(...) QUESTIONS_FOR((guest::Machine{guest::prepare, guest::memory_in_use}), __VA_ARGS__)
