// Kernels whose blocks vote on what they poll, pass it on through shared memory, or poll several words in turn. Prints
// one line of JSON with a checksum that depends on every wait, and not on which of several words came first.
//
//   votes semaphore_128|semaphore_256|vote_128|vote_256|passed_on|queues|any_of [ROUNDS [missing]]
//
// With `missing`, the last block does nothing, so that the others wait until their deadline: what wic-prof stuck says.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "votes.cuh"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__device__ bool is_missing(bool missing) { return missing && blockIdx.x == gridDim.x - 1; }

__global__ void semaphore(unsigned* words, unsigned* values, int rounds, unsigned* failed, bool missing) {
  if (is_missing(missing)) return;
  semaphore_rounds(words, values, rounds, failed);
}
__global__ void vote(unsigned* words, unsigned* values, int rounds, unsigned* failed, bool missing) {
  if (is_missing(missing)) return;
  vote_rounds(words, values, rounds, failed);
}
__global__ void passed_on(unsigned* words, unsigned* values, int rounds, unsigned* failed, bool missing) {
  if (is_missing(missing)) return;
  passed_on_rounds(words, values, rounds, failed);
}
__global__ void queues(unsigned* words, unsigned* values, int rounds, unsigned* failed, bool missing) {
  if (is_missing(missing)) return;
  two_queues(words, values, rounds, failed);
}
__global__ void first_of(unsigned* words, unsigned* values, int rounds, int others, unsigned* failed, bool missing) {
  if (is_missing(missing)) return;
  any_of(words, values, rounds, others, failed);
}

constexpr int kOthers = 8;  // flags of any_of

template <class T>
T* zeroed(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "semaphore_128";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 200;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int blocks = device.multiProcessorCount;  // all of them run at once
  const size_t count = 3 * 256 * static_cast<size_t>(blocks) + 2 * static_cast<size_t>(rounds) + 64;
  unsigned* const failed = zeroed<unsigned>(1);
  double ms = 0;
  std::vector<unsigned> results(count);
  const auto run = [&](int times, bool missing = false) {
    unsigned* const words = zeroed<unsigned>(kApart * 64);
    unsigned* const values = zeroed<unsigned>(count);
    check(cudaDeviceSynchronize(), "prepare");
    const auto begin = std::chrono::steady_clock::now();
    if (scenario == "semaphore_128") semaphore<<<blocks, 128>>>(words, values, times, failed, missing);
    if (scenario == "semaphore_256") semaphore<<<blocks, 256>>>(words, values, times, failed, missing);
    if (scenario == "vote_128") vote<<<blocks, 128>>>(words, values, times, failed, missing);
    if (scenario == "vote_256") vote<<<blocks, 256>>>(words, values, times, failed, missing);
    if (scenario == "passed_on") passed_on<<<blocks, 128>>>(words, values, times, failed, missing);
    if (scenario == "queues") queues<<<3, 32>>>(words, values, times, failed, missing);
    if (scenario == "any_of") first_of<<<1 + kOthers, 32>>>(words, values, times, kOthers, failed, missing);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), scenario.c_str());
    ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    check(cudaMemcpy(results.data(), values, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaFree(words), "cudaFree");
    check(cudaFree(values), "cudaFree");
  };
  run(1);  // loads the kernels
  run(rounds, argc > 3);
  unsigned late = 0;
  check(cudaMemcpy(&late, failed, sizeof late, cudaMemcpyDeviceToHost), "cudaMemcpy");
  unsigned long long checksum = 1469598103934665603ull;
  for (const unsigned value : results) checksum = (checksum ^ value) * 1099511628211ull;
  std::printf("{\"scenario\": \"%s\", \"ms\": %.3f, \"checksum\": \"%016llx\", \"failed\": %u}\n", scenario.c_str(), ms,
              checksum, late);
  return 0;
}
