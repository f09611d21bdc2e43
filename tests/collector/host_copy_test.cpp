#include "collector/waits/host_copy.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "collector/waits/open_captures.h"
#include "collector/waits/waiting_calls.h"

namespace wicprof::collector {
namespace {

// What the driver of these tests knows of addresses.
void* const kPinned = reinterpret_cast<void*>(0x1000);
void* const kOnDevice = reinterpret_cast<void*>(0x2000);
void* const kPageable = reinterpret_cast<void*>(0x3000);
const auto kCopyStream = reinterpret_cast<CUstream>(0x40);

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class FakeDriver final : public CopyQuestions {
 public:
  MemoryKind memory_of(std::uintptr_t address) override {
    asked.push_back(address);
    if (answers_nothing) return MemoryKind::unknown;
    if (pinned.contains(address)) return MemoryKind::pinned;
    return address == address_of(kOnDevice) ? MemoryKind::device : MemoryKind::pageable;
  }
  bool captures(CUstream stream) override {
    of_streams.push_back(stream);
    return stream == capturing;
  }

  std::set<std::uintptr_t> pinned{address_of(kPinned)};
  bool answers_nothing = false;
  CUstream capturing = nullptr;
  std::vector<std::uintptr_t> asked;
  std::vector<CUstream> of_streams;
};

class HostCopyTest : public testing::Test {
 protected:
  template <class Params>
  std::optional<bool> found_in(CUpti_CallbackDomain domain, CUpti_CallbackId id, const Params& params) {
    const std::uint8_t number = number_of(domain, id);
    EXPECT_NE(number, kNoNumber);
    const std::optional<HostCopy> copy = host_copy(domain, id, &params, kWaitingCalls[number].default_stream());
    EXPECT_TRUE(copy);
    return copy ? waits(*copy, kWaitingCalls[number].copy, memory_, driver_) : false;
  }
  template <class Params>
  bool waits_in(CUpti_CallbackDomain domain, CUpti_CallbackId id, const Params& params) {
    const std::optional<bool> found = found_in(domain, id, params);
    EXPECT_TRUE(found.has_value());
    return found == true;
  }
  bool async(void* to, const void* from, cudaMemcpyKind kind, std::size_t bytes = 4) {
    const cudaMemcpyAsync_v3020_params params{to, from, bytes, kind, kCopyStream};
    return waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, params);
  }
  bool sync(void* to, const void* from, cudaMemcpyKind kind) {
    const cudaMemcpy_v3020_params params{to, from, 4, kind};
    return waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, params);
  }

  HostMemory memory_;
  FakeDriver driver_;
};

TEST_F(HostCopyTest, AnAsynchronousCopyFromADeviceWaitsForPageableMemoryAlone) {
  EXPECT_TRUE(async(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(async(kPageable, kOnDevice, cudaMemcpyDefault));
  EXPECT_FALSE(async(kPinned, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_FALSE(async(kPinned, kOnDevice, cudaMemcpyDefault));
  EXPECT_FALSE(async(kOnDevice, kOnDevice, cudaMemcpyDefault));
  EXPECT_FALSE(async(kOnDevice, kOnDevice, cudaMemcpyDeviceToDevice));
}

TEST_F(HostCopyTest, AnAsynchronousCopyToADeviceWaitsOnceItIsTooLongForTheDriversBuffers) {
  EXPECT_FALSE(async(kOnDevice, kPageable, cudaMemcpyHostToDevice));
  EXPECT_FALSE(async(kOnDevice, kPageable, cudaMemcpyHostToDevice, kTooLongForBuffers / 2));
  EXPECT_TRUE(driver_.asked.empty());
  EXPECT_TRUE(async(kOnDevice, kPageable, cudaMemcpyHostToDevice, kTooLongForBuffers));
  EXPECT_TRUE(async(kOnDevice, kPageable, cudaMemcpyDefault, kTooLongForBuffers));
  EXPECT_FALSE(async(kOnDevice, kPinned, cudaMemcpyHostToDevice, kTooLongForBuffers));
}

TEST_F(HostCopyTest, ACopyFromHostToHostWaits) {
  for (void* const to : {kPinned, kPageable}) {
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyDefault}) {
      EXPECT_TRUE(async(to, kPinned, kind));
      EXPECT_TRUE(async(to, kPageable, kind));
      EXPECT_TRUE(sync(to, kPageable, kind));
    }
  }
}

TEST_F(HostCopyTest, ASynchronousCopyWaitsUnlessItIsWithinDevices) {
  EXPECT_TRUE(sync(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(sync(kPinned, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(sync(kOnDevice, kPinned, cudaMemcpyHostToDevice));
  EXPECT_FALSE(sync(kOnDevice, kOnDevice, cudaMemcpyDeviceToDevice));
  EXPECT_TRUE(driver_.asked.empty());
  EXPECT_TRUE(sync(kPageable, kOnDevice, cudaMemcpyDefault));
  EXPECT_TRUE(sync(kOnDevice, kPinned, cudaMemcpyDefault));
  EXPECT_FALSE(sync(kOnDevice, kOnDevice, cudaMemcpyDefault));
  const cudaMemcpyToSymbol_v3020_params to_symbol{kOnDevice, kPageable, 4, 0, cudaMemcpyHostToDevice};
  EXPECT_TRUE(waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020, to_symbol));
  const cudaMemcpyFromSymbol_v3020_params from_symbol{kOnDevice, kOnDevice, 4, 0, cudaMemcpyDeviceToDevice};
  EXPECT_FALSE(waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_v3020, from_symbol));
}

TEST_F(HostCopyTest, ACopyThatAStreamRecordsDoesNotWait) {
  driver_.capturing = kCopyStream;
  EXPECT_FALSE(async(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_EQ(driver_.of_streams, std::vector<CUstream>{kCopyStream});
}

TEST_F(HostCopyTest, TheDriversCallsSayTheSame) {
  const cuMemcpyDtoHAsync_v2_params to_host{kPageable, address_of(kOnDevice), 4, kCopyStream};
  EXPECT_TRUE(waits_in(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, to_host));
  const cuMemcpyHtoDAsync_v2_params to_device{address_of(kOnDevice), kPageable, kTooLongForBuffers, kCopyStream};
  EXPECT_TRUE(waits_in(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, to_device));
  const cuMemcpyAsync_params any{address_of(kPageable), address_of(kOnDevice), 4, kCopyStream};
  EXPECT_TRUE(waits_in(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, any));
  const cuMemcpy_params synchronous{address_of(kOnDevice), address_of(kOnDevice), 4};
  EXPECT_FALSE(waits_in(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy, synchronous));
}

TEST_F(HostCopyTest, CopiesOfTwoAndThreeDimensionsHaveTheirAddressesInAStructure) {
  const cudaMemcpy2DAsync_v3020_params plane{kPageable, 64, kOnDevice, 64, 4, 4, cudaMemcpyDeviceToHost, kCopyStream};
  EXPECT_TRUE(waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, plane));
  cudaMemcpy3DParms volume{};
  volume.srcPtr.ptr = kOnDevice;
  volume.dstPtr.ptr = kPageable;
  volume.kind = cudaMemcpyDefault;
  const cudaMemcpy3DAsync_v3020_params of_volume{&volume, kCopyStream};
  EXPECT_TRUE(waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, of_volume));
  volume.dstPtr.ptr = kPinned;
  EXPECT_FALSE(waits_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, of_volume));

  CUDA_MEMCPY2D shape{};
  shape.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  shape.dstMemoryType = CU_MEMORYTYPE_HOST;
  shape.dstHost = kPageable;
  const cuMemcpy2DAsync_v2_params in_driver{&shape, kCopyStream};
  const auto waits = [&] { return waits_in(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, in_driver); };
  EXPECT_TRUE(waits());
  shape.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  shape.dstDevice = address_of(kPageable);
  shape.dstHost = nullptr;
  EXPECT_TRUE(waits());
  shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_FALSE(waits());
}

TEST_F(HostCopyTest, TheDefaultStreamIsTheCallsOwn) {
  const auto stream_of = [](CUpti_CallbackId id, const auto& params) {
    const std::optional<Awaitable> what = awaitable_of(number_of(kDriverCall, id), &params);
    return what && what->kind == Awaited::copy ? what->stream : nullptr;
  };
  const cuMemcpyDtoHAsync_v2_params async{kPageable, address_of(kOnDevice), 4, nullptr};
  EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, async), CU_STREAM_LEGACY);
  EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, async), CU_STREAM_PER_THREAD);
  const cuMemcpyHtoD_v2_params sync{address_of(kOnDevice), kPageable, 4};
  EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, sync), CU_STREAM_LEGACY);
  EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, sync), CU_STREAM_PER_THREAD);
  const cuMemcpyAsync_params named{address_of(kPageable), address_of(kOnDevice), 4, kCopyStream};
  EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, named), kCopyStream);
}

TEST(WaitingCalls, CopiesAloneAreCopies) {
  alignas(16) static const char structure[512] = {};
  const void* params[32];  // the largest call; wherever it has a structure, there is one
  std::fill(std::begin(params), std::end(params), structure);
  for (const WaitingCall& call : kWaitingCalls) {
    const std::optional<HostCopy> copy = host_copy(call.domain, call.id, params, call.default_stream());
    EXPECT_EQ(copy.has_value(), call.copy != CopyCall::none) << call.id;
  }
}

TEST_F(HostCopyTest, AnAddressIsAskedForAgainOnceMemoryHasBeenPinned) {
  EXPECT_TRUE(async(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(async(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_EQ(driver_.asked.size(), 1u);
  driver_.pinned.insert(address_of(kPageable));
  HostMemory::changed();
  EXPECT_FALSE(async(kPageable, kOnDevice, cudaMemcpyDeviceToHost));
  EXPECT_EQ(driver_.asked.size(), 2u);
}

TEST_F(HostCopyTest, WhatTheDriverDoesNotAnswerIsAskedForAgain) {
  const auto found = [&](cudaMemcpyKind kind) {
    const cudaMemcpyAsync_v3020_params params{kPageable, kOnDevice, 4, kind, kCopyStream};
    return found_in(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, params);
  };
  driver_.answers_nothing = true;
  EXPECT_FALSE(found(cudaMemcpyDeviceToHost).has_value());
  EXPECT_FALSE(found(cudaMemcpyDefault).has_value());
  driver_.answers_nothing = false;
  EXPECT_EQ(found(cudaMemcpyDeviceToHost), true);
  EXPECT_EQ(found(cudaMemcpyDefault), true);
}

TEST(OpenCaptures, ACaptureIsOpenUntilItsEndIsCertain) {
  OpenCaptures captures;
  captures.called(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
  captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_FALSE(captures.any());
  captures.called(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
  EXPECT_TRUE(captures.any());  // the call may have begun it before it returns
  captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_SUCCESS);
  captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_TRUE(captures.any());
  captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_FALSE(captures.any());
}

TEST_F(HostCopyTest, ACallWithoutParametersIsNoCopy) {
  EXPECT_FALSE(host_copy(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, nullptr, CU_STREAM_LEGACY));
}

}  // namespace
}  // namespace wicprof::collector
