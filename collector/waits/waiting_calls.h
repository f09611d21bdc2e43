// The calls of CUDA in which a host thread waits, and what each of them waits for.
#pragma once

#include <cupti.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "collector/waits/host_copy.h"
#include "collector/waits/snapshot.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

struct WaitingCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  Awaited awaited;
  CopyCall copy = CopyCall::none;  ///< a copy waits if host_copy.h says so
  bool per_thread = false;         ///< the default stream is the thread's own (CUDA_API_PER_THREAD_DEFAULT_STREAM)
  CUstream default_stream() const { return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; }
  /// Whether the runtime's call of that kind waits in one call of the driver, which waits for the same. Synchronous
  /// copies take several.
  bool has_twin() const { return copy != CopyCall::synchronous; }
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
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, Awaited::stream, CopyCall::none, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, Awaited::event},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, Awaited::device},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, Awaited::stream},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, Awaited::stream, CopyCall::none, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, Awaited::event},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, Awaited::copy, CopyCall::synchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, Awaited::copy, CopyCall::synchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020, Awaited::copy, CopyCall::synchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_ptds_v7000, Awaited::copy, CopyCall::synchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_v3020, Awaited::copy, CopyCall::synchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_ptds_v7000, Awaited::copy, CopyCall::synchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020, Awaited::copy, CopyCall::synchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_ptds_v7000, Awaited::copy, CopyCall::synchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_v3020, Awaited::copy, CopyCall::synchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_ptds_v7000, Awaited::copy, CopyCall::synchronous,
     true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, Awaited::copy, CopyCall::asynchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000, Awaited::copy, CopyCall::asynchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, Awaited::copy, CopyCall::asynchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000, Awaited::copy, CopyCall::asynchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, Awaited::copy, CopyCall::asynchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_ptsz_v7000, Awaited::copy, CopyCall::asynchronous, true},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_v3020, Awaited::copy, CopyCall::asynchronous},
    {kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_ptsz_v7000, Awaited::copy, CopyCall::asynchronous,
     true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, Awaited::copy, CopyCall::synchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds, Awaited::copy, CopyCall::synchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, Awaited::copy, CopyCall::asynchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, Awaited::copy, CopyCall::asynchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, Awaited::copy, CopyCall::asynchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, Awaited::copy, CopyCall::asynchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, Awaited::copy, CopyCall::asynchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, Awaited::copy, CopyCall::asynchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, Awaited::copy, CopyCall::asynchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz, Awaited::copy, CopyCall::asynchronous, true},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, Awaited::copy, CopyCall::asynchronous},
    {kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz, Awaited::copy, CopyCall::asynchronous, true},
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

/// What the driver is about to wait for in a call with that number, which waits; nothing where wic-prof cannot wait in
/// its place.
inline std::optional<Awaitable> awaitable_of(std::uint8_t number, const void* params) {
  const WaitingCall& call = kWaitingCalls[number];
  if (call.domain != kDriverCall) return std::nullopt;
  if (call.id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize) return Awaitable{Awaited::device};
  if (params == nullptr) return std::nullopt;
  switch (call.awaited) {
    case Awaited::stream: {
      const CUstream stream = static_cast<const cuStreamSynchronize_params*>(params)->hStream;
      return Awaitable{Awaited::stream, stream == nullptr ? call.default_stream() : stream};
    }
    case Awaited::event:
      return Awaitable{Awaited::event, nullptr, static_cast<const cuEventSynchronize_params*>(params)->hEvent};
    case Awaited::device:
      return Awaitable{Awaited::device, nullptr, nullptr, static_cast<const cuCtxSynchronize_v2_params*>(params)->ctx};
    case Awaited::copy:
      if (const std::optional<HostCopy> copy = host_copy(call.domain, call.id, params, call.default_stream()))
        return Awaitable{Awaited::copy, copy->stream};
      return std::nullopt;
    case Awaited::unknown:
      break;
  }
  return std::nullopt;
}

}  // namespace wicprof::collector
