// A CUDA program whose kernels wait for words in memory. It contains no wic code: the patched loops must change nothing
// but the time. Each scenario prints one line of JSON with a checksum that depends on every wait.
//
//   untouched chain|barrier|host [ROUNDS]
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "waits.cuh"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void chain(volatile unsigned* flags, unsigned* values, int rounds, unsigned* failed) {
  chain_of_blocks<true>(flags, values, rounds, failed);
}

__global__ void barrier(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  counter_rounds(arrived, values, rounds, failed);
}

// Waits for a word that the CPU writes.
__global__ void wait_for_host(const volatile unsigned* word, unsigned wanted, unsigned* values, unsigned* failed) {
  if (threadIdx.x == 0) {
    const unsigned long long deadline = now_ns() + kDeadlineNs;
    while (*word < wanted) {
      if (now_ns() > deadline) {
        *failed = 1;
        break;
      }
    }
    __threadfence_system();
    values[blockIdx.x] = mixed(values[blockIdx.x], wanted);
  }
}

// What stands beside the waiting blocks: reads and writes host memory as a program that streams its data does.
__global__ void stream_host(const float4* from, float4* to, size_t count, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
      float4 v = from[i];
      v.x += 1;
      to[i] = v;
    }
  }
}

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void print(const char* scenario, double ms, const std::vector<unsigned>& values, unsigned failed, double beside_ms) {
  unsigned long long checksum = 1469598103934665603ull;
  for (const unsigned value : values) checksum = (checksum ^ value) * 1099511628211ull;
  std::printf("{\"scenario\": \"%s\", \"ms\": %.3f, \"beside_ms\": %.3f, \"checksum\": \"%016llx\", \"failed\": %u}\n",
              scenario, ms, beside_ms, checksum, failed);
  std::fflush(stdout);
}

template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

std::vector<unsigned> copied(const unsigned* from, size_t count) {
  std::vector<unsigned> values(count);
  check(cudaMemcpy(values.data(), from, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "chain";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1000;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int blocks = device.multiProcessorCount;
  unsigned* const failed = device_memory<unsigned>(1);
  double beside = 0;
  std::vector<unsigned> values;
  const auto run = [&](int count) {
    const auto begin = Clock::now();
    if (std::strcmp(scenario, "chain") == 0) {
      unsigned* const flags = device_memory<unsigned>(blocks * 32);
      unsigned* const all = device_memory<unsigned>(blocks * 64);
      check(cudaDeviceSynchronize(), "prepare");
      const auto start = Clock::now();
      chain<<<blocks, 64>>>(flags, all, count, failed);
      check(cudaDeviceSynchronize(), "chain");
      const double ms = ms_since(start);
      values = copied(all, blocks * 64);
      return ms;
    }
    if (std::strcmp(scenario, "barrier") == 0) {
      unsigned* const arrived = device_memory<unsigned>(1);
      unsigned* const all = device_memory<unsigned>(3 * blocks * 64);
      check(cudaDeviceSynchronize(), "prepare");
      const auto start = Clock::now();
      barrier<<<blocks, 64>>>(arrived, all, count, failed);
      check(cudaDeviceSynchronize(), "barrier");
      const double ms = ms_since(start);
      values = copied(all, 3 * blocks * 64);
      return ms;
    }
    // 4 waiting blocks per SM beside a kernel that streams host memory. The CPU lets them go when that kernel ends.
    constexpr size_t kCount = size_t{4} << 20;
    static float4 *from = nullptr, *to = nullptr;
    static unsigned* word = nullptr;
    static cudaStream_t waiting = nullptr, working = nullptr;
    if (from == nullptr) {
      check(cudaHostAlloc(&from, kCount * sizeof(float4), cudaHostAllocMapped), "cudaHostAlloc");
      check(cudaHostAlloc(&word, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
      std::memset(from, 0, kCount * sizeof(float4));
      to = device_memory<float4>(kCount);
      check(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking), "cudaStreamCreate");
      check(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking), "cudaStreamCreate");
      stream_host<<<blocks, 256, 0, working>>>(from, to, 256, 1);  // loads the kernel
      check(cudaStreamSynchronize(working), "load");
    }
    unsigned* const all = device_memory<unsigned>(4 * blocks);
    check(cudaDeviceSynchronize(), "prepare");
    *(volatile unsigned*)word = 0;
    const bool nobody_waits = count == 0;
    if (!nobody_waits) wait_for_host<<<4 * blocks, 32, 0, waiting>>>(word, 1, all, failed);
    const auto start = Clock::now();
    stream_host<<<blocks, 256, 0, working>>>(from, to, kCount, 16);
    check(cudaStreamSynchronize(working), "stream");
    beside = ms_since(start);
    *(volatile unsigned*)word = 1;
    check(cudaStreamSynchronize(waiting), "wait");
    values = copied(all, 4 * blocks);
    (void)begin;
    return ms_since(start);
  };
  run(rounds == 0 ? 0 : 1);  // loads the kernels
  double best = 1e30, best_beside = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double ms = run(rounds);
    best = ms < best ? ms : best;
    best_beside = beside < best_beside ? beside : best_beside;
  }
  print(scenario, best, values, copied(failed, 1)[0], best_beside);
  return 0;
}
