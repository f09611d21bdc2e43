// The calls of CUDA in which a host thread waits, and what each of them waits for.
#pragma once

#include <cupti.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "collector/waits/copy_to_host.h"
#include "collector/waits/parking.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

struct WaitingCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  Awaited awaited;
  /// An asynchronous copy, which waits only if it goes to memory of the host that is not pinned (copy_to_host.h).
  bool waits_if_pageable = false;
  /// Whether the runtime's call of that kind waits in one call of the driver, which waits for the same. Other copies
  /// take several.
  bool has_twin() const { return awaited != Awaited::copy || waits_if_pageable; }
  /// A call of the runtime that waits in the driver's call for the same. Its own callbacks are disabled once the
  /// driver's have shown that they suffice: they would double what a wait costs.
  bool in_driver() const { return domain == CUPTI_CB_DOMAIN_RUNTIME_API && has_twin(); }
  /// A call of the driver that may be made by such a call of the runtime.
  bool by_runtime() const { return domain == CUPTI_CB_DOMAIN_DRIVER_API && has_twin(); }
};

inline constexpr auto kRuntimeCall = CUPTI_CB_DOMAIN_RUNTIME_API;
inline constexpr auto kDriverCall = CUPTI_CB_DOMAIN_DRIVER_API;

inline constexpr WaitingCall kWaitingCalls[] = {
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, Awaited::device},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020, Awaited::device},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, Awaited::stream},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, Awaited::stream},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, Awaited::event},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, Awaited::stream},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, Awaited::stream},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, Awaited::event},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_ptds_v7000, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_v3020, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_ptds_v7000, Awaited::copy},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, Awaited::copy, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000, Awaited::copy, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, Awaited::copy, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000, Awaited::copy, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, Awaited::copy, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_ptsz_v7000, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds, Awaited::copy},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, Awaited::copy, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz, Awaited::copy, true},
};

/// Numbers of waiting calls by their callbacks' ids, since every call looks its number up four times.
inline constexpr std::uint8_t kNoNumber = std::numeric_limits<std::uint8_t>::max();
template <std::size_t kIds>
constexpr std::array<std::uint8_t, kIds> numbers_of(CUpti_CallbackDomain domain) {
  std::array<std::uint8_t, kIds> numbers{};
  numbers.fill(kNoNumber);
  for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
    if (kWaitingCalls[i].domain == domain) numbers[kWaitingCalls[i].id] = static_cast<std::uint8_t>(i);
  }
  return numbers;
}
inline constexpr auto kRuntimeNumbers = numbers_of<CUPTI_RUNTIME_TRACE_CBID_SIZE>(kRuntimeCall);
inline constexpr auto kDriverNumbers = numbers_of<CUPTI_DRIVER_TRACE_CBID_SIZE>(kDriverCall);

/// A waiting call's number; kNoNumber for another call.
inline std::uint8_t number_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == kRuntimeCall) return id < kRuntimeNumbers.size() ? kRuntimeNumbers[id] : kNoNumber;
  return domain == kDriverCall && id < kDriverNumbers.size() ? kDriverNumbers[id] : kNoNumber;
}

/// Whether a call of the driver is a WaitingCall with that property.
inline bool waits_if_pageable(CUpti_CallbackId id) {
  const std::uint8_t number = number_of(kDriverCall, id);
  return number != kNoNumber && kWaitingCalls[number].waits_if_pageable;
}

/// What the driver is about to wait for; nothing where wic-prof cannot wait in its place. A copy to the device does not
/// wait for earlier work, and one between host and device of managed memory need not.
inline std::optional<Awaitable> awaitable_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params) {
  if (domain != kDriverCall) return std::nullopt;
  const auto stream_of = [](CUstream stream, CUstream default_stream) {
    return stream == nullptr ? default_stream : stream;
  };
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz: {
      if (params == nullptr) return std::nullopt;
      const bool per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz;
      const CUstream stream = static_cast<const cuStreamSynchronize_params*>(params)->hStream;
      return Awaitable{Awaited::stream, stream_of(stream, per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY)};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize:
      if (params == nullptr) return std::nullopt;
      return Awaitable{Awaited::event, nullptr, static_cast<const cuEventSynchronize_params*>(params)->hEvent};
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize:
      return Awaitable{Awaited::device};
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2:
      if (params == nullptr) return std::nullopt;
      return Awaitable{Awaited::device, nullptr, nullptr, static_cast<const cuCtxSynchronize_v2_params*>(params)->ctx};
    default: {
      const std::optional<CopyToHost> copy = copy_to_host(domain, id, params);
      if (!copy || !(copy->surely_to_host || waits_if_pageable(id))) return std::nullopt;
      return Awaitable{Awaited::copy, copy->stream};
    }
  }
}

}  // namespace wicprof::collector
