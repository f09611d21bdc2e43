#include "collector/waits/copy_to_host.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <optional>

#include "collector/waits/waiting_calls.h"

namespace wicprof::collector {
namespace {

// What the driver of these tests knows of addresses.
void* const kPinned = reinterpret_cast<void*>(0x1000);
void* const kOnDevice = reinterpret_cast<void*>(0x2000);
void* const kPageable = reinterpret_cast<void*>(0x3000);
const auto kStream = reinterpret_cast<CUstream>(0x40);

CUdeviceptr device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

CUresult attribute(void* value, CUpointer_attribute, CUdeviceptr address) {
  if (address != device(kPinned) && address != device(kOnDevice)) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<CUmemorytype*>(value) = address == device(kPinned) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  return CUDA_SUCCESS;
}

CUstream capturing = nullptr, asked = nullptr;
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  asked = stream;
  *status = stream == capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

class CopyToHostTest : public testing::Test {
 protected:
  CopyToHostTest() {
    api_.pointer_attribute = attribute;
    api_.stream_is_capturing = is_capturing;
    capturing = asked = nullptr;
  }

  template <class Params>
  bool waits(CUpti_CallbackDomain domain, CUpti_CallbackId id, const Params& params) {
    const std::optional<CopyToHost> copy = copy_to_host(domain, id, &params);
    return copy && waits_for_pageable(api_, *copy);
  }

  DriverApi api_;
};

TEST_F(CopyToHostTest, AnAsynchronousCopyFromADeviceWaitsForPageableMemoryAlone) {
  const auto call = [&](void* to, const void* from, cudaMemcpyKind kind) {
    const cudaMemcpyAsync_v3020_params params{to, from, 4, kind, kStream};
    return waits(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, params);
  };
  EXPECT_TRUE(call(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_EQ(asked, kStream);
  EXPECT_TRUE(call(kPageable, kOnDevice, cudaMemcpyDefault));
  EXPECT_FALSE(call(kPinned, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_FALSE(call(kPinned, kOnDevice, cudaMemcpyDefault));
  EXPECT_FALSE(call(kPageable, kPinned, cudaMemcpyDefault));
  EXPECT_FALSE(call(kPageable, kPageable, cudaMemcpyDefault));
  EXPECT_FALSE(call(kOnDevice, kPageable, cudaMemcpyHostToDevice));
  EXPECT_FALSE(call(kOnDevice, kOnDevice, cudaMemcpyDefault));
  capturing = kStream;
  EXPECT_FALSE(call(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
}

TEST_F(CopyToHostTest, TheDriversCallsSayTheSame) {
  const cuMemcpyDtoHAsync_v2_params to_host{kPageable, device(kOnDevice), 4, kStream};
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, to_host));
  const cuMemcpyAsync_params any{device(kPageable), device(kOnDevice), 4, kStream};
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, any));
  const cuMemcpyAsync_params among_hosts{device(kPageable), device(kPinned), 4, kStream};
  EXPECT_FALSE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, among_hosts));
}

TEST_F(CopyToHostTest, CopiesOfTwoAndThreeDimensionsHaveTheirAddressesInAStructure) {
  const cudaMemcpy2DAsync_v3020_params plane{kPageable, 64, kOnDevice, 64, 4, 4, cudaMemcpyDeviceToHost, kStream};
  EXPECT_TRUE(waits(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, plane));
  cudaMemcpy3DParms volume{};
  volume.srcPtr.ptr = kOnDevice;
  volume.dstPtr.ptr = kPageable;
  volume.kind = cudaMemcpyDefault;
  const cudaMemcpy3DAsync_v3020_params of_volume{&volume, kStream};
  EXPECT_TRUE(waits(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, of_volume));
  volume.dstPtr.ptr = kPinned;
  EXPECT_FALSE(waits(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, of_volume));

  CUDA_MEMCPY2D shape{};
  shape.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  shape.dstMemoryType = CU_MEMORYTYPE_HOST;
  shape.dstHost = kPageable;
  const cuMemcpy2DAsync_v2_params in_driver{&shape, kStream};
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, in_driver));
  shape.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  shape.dstDevice = device(kPageable);
  shape.dstHost = nullptr;
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, in_driver));
  shape.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  shape.srcDevice = device(kPageable);
  EXPECT_FALSE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, in_driver));
  shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_FALSE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, in_driver));
}

TEST_F(CopyToHostTest, TheDefaultStreamIsTheCallsOwn) {
  const cuMemcpyDtoHAsync_v2_params params{kPageable, device(kOnDevice), 4, nullptr};
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, params));
  EXPECT_EQ(asked, CU_STREAM_LEGACY);
  EXPECT_TRUE(waits(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, params));
  EXPECT_EQ(asked, CU_STREAM_PER_THREAD);
}

TEST_F(CopyToHostTest, WicProfWaitsInTheDriversPlaceForCopiesThatSurelyGoToTheHost) {
  const auto awaited = [](CUpti_CallbackId id, const auto& params) {
    const std::optional<Awaitable> what = awaitable_of(kDriverCall, id, &params);
    return what ? what->stream : nullptr;
  };
  const cuMemcpyDtoH_v2_params to_host{kPageable, device(kOnDevice), 4};
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, to_host), CU_STREAM_LEGACY);
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, to_host), CU_STREAM_PER_THREAD);
  const cuMemcpyHtoD_v2_params to_device{device(kOnDevice), kPageable, 4};
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, to_device), nullptr);
  CUDA_MEMCPY3D shape{};
  shape.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  shape.dstMemoryType = CU_MEMORYTYPE_HOST;
  const cuMemcpy3D_v2_params volume{&shape};
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, volume), CU_STREAM_LEGACY);
  shape.dstMemoryType = CU_MEMORYTYPE_UNIFIED;  // of the host or of a device: not asked for a synchronous copy
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, volume), nullptr);
  const cuMemcpyAsync_params any{device(kPageable), device(kOnDevice), 4, kStream};
  EXPECT_EQ(awaited(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, any), kStream);  // only asked once it is known to wait
}

TEST_F(CopyToHostTest, ACallWithoutParametersOrADriverWithoutTheQuestionsIsLeftAlone) {
  EXPECT_FALSE(waits_for_pageable({}, CopyToHost{device(kPageable), true, std::nullopt, kStream}));
  EXPECT_FALSE(copy_to_host(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, nullptr));
}

}  // namespace
}  // namespace wicprof::collector
