// Whether any stream of the process records a graph: while none does, no stream has to be asked.
#pragma once

#include <cupti.h>

#include <atomic>

namespace wicprof::collector {

inline constexpr CUpti_CallbackId kCaptureCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,          CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};

/// Any thread.
class OpenCaptures {
 public:
  bool any() const { return open_.load(std::memory_order_acquire) > 0; }

  /// One of kCaptureCalls has returned. A capture counts as open until its end is certain.
  void returned(CUpti_CallbackId id, CUresult result) {
    const bool ends =
        id == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture || id == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz;
    if (ends ? result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : result == CUDA_SUCCESS) {
      open_ += ends ? -1 : 1;
    }
  }

 private:
  std::atomic<int> open_{0};
};

}  // namespace wicprof::collector
