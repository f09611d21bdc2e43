// A CUDA program whose kernels wait inside of libraries: CUB's scans and sorts, cooperative groups' barriers of a grid.
// It contains no wic code. Each scenario prints one line of JSON with a checksum of its results.
//
//   programs scan|select|sort|grid|looks [ROUNDS]
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <vector>

#include "waits.cuh"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

__global__ void make_keys(unsigned* keys, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
    keys[i] = static_cast<unsigned>(i * 2654435761u) ^ static_cast<unsigned>(i >> 7);
  }
}

struct IsOdd {
  __device__ bool operator()(unsigned value) const { return (value & 1) != 0; }
};

__global__ void grid_rounds(unsigned* values, int rounds) { grid_sync_rounds(values, rounds); }

/// All threads of the grid wait for a word that block 0 writes after `us` microseconds, `rounds` times.
__global__ void look_often(volatile unsigned* word, unsigned* values, int rounds, unsigned us) {
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mine = own;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) {
        unsigned long long begin, now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
        do {
          asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        } while (now - begin < us * 1000ull);
        *word = round;
      }
      mine += round;
    } else {
      while (*word < round) {
      }
      mine = mine * 2654435761u + round;
    }
  }
  values[own] = mine;
}

using Clock = std::chrono::steady_clock;

unsigned long long checksum_of(const unsigned* from, size_t count) {
  std::vector<unsigned> values(count);
  check(cudaMemcpy(values.data(), from, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
  unsigned long long checksum = 1469598103934665603ull;
  for (const unsigned value : values) checksum = (checksum ^ value) * 1099511628211ull;
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "scan";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
  const auto is = [&](const char* name) { return std::strcmp(scenario, name) == 0; };
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  constexpr size_t kCount = size_t{1} << 23;
  unsigned* const keys = device_memory<unsigned>(kCount);
  unsigned* const out = device_memory<unsigned>(kCount);
  unsigned* const selected = device_memory<unsigned>(1);
  make_keys<<<1024, 256>>>(keys, kCount);
  check(cudaDeviceSynchronize(), "keys");
  void* scratch = nullptr;
  size_t bytes = 0, results = kCount;
  const auto once = [&]() -> cudaError_t {
    if (is("scan")) return cub::DeviceScan::InclusiveSum(scratch, bytes, keys, out, kCount);
    if (is("select")) return cub::DeviceSelect::If(scratch, bytes, keys, out, selected, kCount, IsOdd{});
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, out, kCount);
  };
  const bool library = is("scan") || is("select") || is("sort");
  int blocks_per_sm = 0;
  if (library) {
    check(once(), "size");
    check(cudaMalloc(&scratch, bytes), "scratch");
  } else if (is("grid")) {
    // As many blocks as fit: one register too many, and the launch fails.
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, grid_rounds, 256, 0), "occupancy");
    results = static_cast<size_t>(blocks_per_sm) * device.multiProcessorCount * 256;
  } else {
    results = static_cast<size_t>(device.multiProcessorCount) * 64;
  }
  double best = 1e30;
  for (int repeat = 0; repeat <= 5; ++repeat) {
    check(cudaMemset(out, 0, kCount * sizeof(unsigned)), "cudaMemset");
    check(cudaMemset(selected, 0, sizeof(unsigned)), "cudaMemset");
    check(cudaDeviceSynchronize(), "prepare");
    const auto begin = Clock::now();
    if (library) {
      for (int round = 0; round < rounds; ++round) check(once(), scenario);
    } else if (is("grid")) {
      int count = rounds;
      unsigned* values = out;
      void* arguments[] = {&values, &count};
      check(cudaLaunchCooperativeKernel(grid_rounds, blocks_per_sm * device.multiProcessorCount, 256, arguments, 0,
                                        nullptr),
            "cudaLaunchCooperativeKernel");
    } else {
      look_often<<<device.multiProcessorCount, 64>>>(selected, out, rounds, 1000);
    }
    check(cudaDeviceSynchronize(), scenario);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (repeat > 0 && ms < best) best = ms;  // the first one loads the kernels
  }
  if (is("grid")) {
    results *= 3;
  }
  std::printf("{\"scenario\": \"%s\", \"ms\": %.3f, \"blocks_per_sm\": %d, \"checksum\": \"%016llx\", \"failed\": 0}\n",
              scenario, best, blocks_per_sm, checksum_of(out, results));
  return 0;
}
