// Compares our occupancy with the toolkit's calculator, which needs no GPU.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <climits>

#include "analyzer/work/occupancy.h"
#include "devices.h"

namespace wicprof::analyzer {
namespace {

using namespace test_devices;

cudaOccDeviceProp properties_of(const store::DeviceRow& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = static_cast<int>(device.compute_major);
  properties.computeMinor = static_cast<int>(device.compute_minor);
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm);
  properties.regsPerBlock = 65'536;
  properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerMultiprocessor = device.shared_bytes_per_sm;
  properties.numSms = static_cast<int>(device.sm_count);
  properties.sharedMemPerBlockOptin = device.shared_bytes_per_sm - device.reserved_shared_bytes_per_block;
  properties.reservedSharedMemPerBlock = device.reserved_shared_bytes_per_block;
  return properties;
}

TEST(OccupancyByNvidia, AgreesForEveryArchitectureAndManyShapes) {
  std::size_t compared = 0;
  for (const store::DeviceRow& device : {p100(), v100(), t4(), a100(), rtx3090(), rtx4090(), h100()}) {
    const cudaOccDeviceProp properties = properties_of(device);
    for (std::uint32_t threads = 1; threads <= 1024; threads += threads < 70 ? 1 : 31) {
      for (std::uint32_t registers = 1; registers <= 255; registers += 7) {
        for (const std::uint32_t shared : {0u, 1u, 127u, 128u, 1000u, 4096u, 10'000u, 20'480u, 33'000u, 48'000u}) {
          cudaOccFuncAttributes attributes;
          attributes.maxThreadsPerBlock = INT_MAX;
          attributes.numRegs = static_cast<int>(registers);
          attributes.sharedSizeBytes = shared;
          attributes.numBlockBarriers = 1;
          const cudaOccDeviceState state{};
          cudaOccResult theirs{};
          ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &properties, &attributes, &state,
                                                            static_cast<int>(threads), 0),
                    CUDA_OCC_SUCCESS);
          const auto ours = occupancy(device, {threads, registers, shared}, device.shared_bytes_per_sm);
          // Skips launches that the hardware refuses, which no trace contains; the toolkit's calculator reports them.
          if (theirs.activeBlocksPerMultiprocessor == 0) continue;
          ++compared;
          ASSERT_TRUE(ours);
          ASSERT_EQ(ours->blocks_per_sm, static_cast<std::uint32_t>(theirs.activeBlocksPerMultiprocessor))
              << "sm_" << device.compute_major << device.compute_minor << ", " << threads << " threads, " << registers
              << " registers, " << shared << " bytes";
        }
      }
    }
  }
  EXPECT_GT(compared, 100'000u);
}

}  // namespace
}  // namespace wicprof::analyzer
