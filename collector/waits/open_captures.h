// Whether any stream of the process records a graph. While one does, wic-prof asks the driver nothing that the capture
// forbids: such a question would end the capture.
#pragma once

#include <cupti.h>
#include <sched.h>

#include <atomic>

#include "protocol/time.h"

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

  /// One of kCaptureCalls begins on the calling thread. A beginning capture counts as open at once, and waits for
  /// questions that are being asked, a microsecond each.
  void called(CUpti_CallbackId id) {
    if (ends(id)) return;
    open_.fetch_add(1);
    for (const TimeNs until = now_ns() + kLongestQuestion; asking_.load() > 0 && now_ns() < until;) sched_yield();
  }

  /// One of kCaptureCalls has returned. A capture counts as open until its end is certain.
  void returned(CUpti_CallbackId id, CUresult result) {
    if (!ends(id)) {
      if (result != CUDA_SUCCESS) open_.fetch_sub(1);
    } else if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
               result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
      int open = open_.load();
      while (open > 0 && !open_.compare_exchange_weak(open, open - 1)) {
      }
    }
  }

  /// For the object's lifetime no capture begins. Only around calls of the driver that wait for nobody.
  class Pause {
   public:
    explicit Pause(OpenCaptures& captures) : captures_(captures) {
      captures_.asking_.fetch_add(1);
      holds_ = captures_.open_.load() == 0;
      if (!holds_) captures_.asking_.fetch_sub(1);
    }
    ~Pause() {
      if (holds_) captures_.asking_.fetch_sub(1);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    /// False: a capture is open.
    explicit operator bool() const { return holds_; }

   private:
    OpenCaptures& captures_;
    bool holds_;
  };

 private:
  static bool ends(CUpti_CallbackId id) {
    return id == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture || id == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz;
  }
  /// A question takes a microsecond; one that takes longer must not delay the program.
  static constexpr TimeNs kLongestQuestion = 1'000'000;

  std::atomic<int> open_{0}, asking_{0};
};

}  // namespace wicprof::collector
