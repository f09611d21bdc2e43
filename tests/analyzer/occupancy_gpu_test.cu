// Compares our occupancy with the CUDA runtime's on a real GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "analyzer/work/occupancy.h"

namespace wicprof::analyzer {
namespace {

__global__ void few_registers(float* out) { out[threadIdx.x] = 1; }

__global__ void __launch_bounds__(256) many_registers(float* out, int n) {
  float values[96];
  for (int i = 0; i < 96; ++i) values[i] = out[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 96; ++i) values[i] = values[i] * values[(i + 1) % 96] + values[(i + 37) % 96];
  }
  for (int i = 0; i < 96; ++i) out[i * 1024 + threadIdx.x] = values[i];
}

template <class Kernel>
void compare_on_gpu(Kernel kernel, int max_threads, const store::DeviceRow& device) {
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  for (int threads = 1; threads <= max_threads; threads += threads < 70 ? 1 : 31) {
    for (const std::size_t shared : {0, 1, 129, 1024, 5000, 12'345, 24 * 1024, 40'000, 48 * 1024}) {
      int theirs = 0;
      ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&theirs, kernel, threads, shared), cudaSuccess);
      if (theirs == 0) continue;
      const BlockShape shape{static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(attributes.numRegs),
                             static_cast<std::uint32_t>(attributes.sharedSizeBytes + shared)};
      const auto ours = occupancy(device, shape, device.shared_bytes_per_sm);
      ASSERT_TRUE(ours);
      ASSERT_EQ(ours->blocks_per_sm, static_cast<std::uint32_t>(theirs))
          << threads << " threads, " << attributes.numRegs << " registers, " << shared << " bytes";
    }
  }
}

TEST(OccupancyOnGpu, AgreesWithTheRuntime) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  store::DeviceRow device{};
  device.compute_major = static_cast<std::uint32_t>(properties.major);
  device.compute_minor = static_cast<std::uint32_t>(properties.minor);
  device.max_threads_per_sm = static_cast<std::uint32_t>(properties.maxThreadsPerMultiProcessor);
  device.max_blocks_per_sm = static_cast<std::uint32_t>(properties.maxBlocksPerMultiProcessor);
  device.registers_per_sm = static_cast<std::uint32_t>(properties.regsPerMultiprocessor);
  device.shared_bytes_per_sm = static_cast<std::uint32_t>(properties.sharedMemPerMultiprocessor);
  device.reserved_shared_bytes_per_block = static_cast<std::uint32_t>(properties.reservedSharedMemPerBlock);
  compare_on_gpu(few_registers, 1024, device);
  compare_on_gpu(many_registers, 256, device);
}

}  // namespace
}  // namespace wicprof::analyzer
