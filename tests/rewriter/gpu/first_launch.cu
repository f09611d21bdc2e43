// A kernel waits for a word that another kernel sets, which the program has never launched before: with lazy loading,
// its first launch can wait for the waiting kernel. Under `run --rewrite` it must not
// (docs/design/collector.md#loading).
//
//   first_launch
//
// Prints one line of JSON; exit status 1: the waiting kernel came to its deadline of three seconds.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned long long kDeadlineNs = 3'000'000'000;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(2);
}

__device__ unsigned long long now_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void waits(const volatile unsigned* word, unsigned* missed) {
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  while (*word == 0) {
    if (now_ns() > deadline) {
      *missed = 1;
      break;
    }
  }
}

__global__ void sets(volatile unsigned* word) { *word = 1; }

}  // namespace

int main() {
  unsigned *words = nullptr, missed = 0;
  check(cudaMalloc(&words, 2 * sizeof(unsigned)), "cudaMalloc");
  check(cudaMemset(words, 0, 2 * sizeof(unsigned)), "cudaMemset");
  cudaStream_t waiting = nullptr, setting = nullptr;
  check(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamCreateWithFlags(&setting, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  waits<<<1, 1, 0, waiting>>>(words, words + 1);
  sets<<<1, 1, 0, setting>>>(words);
  check(cudaGetLastError(), "a launch");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(&missed, words + 1, sizeof missed, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("{\"missed\": %u}\n", missed);
  return missed == 0 ? 0 : 1;
}
