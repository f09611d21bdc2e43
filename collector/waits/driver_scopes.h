// States of the calling thread in the driver, for the time of some calls of ours.
#pragma once

#include <cuda.h>

#include "collector/waits/driver_api.h"

namespace wicprof::collector {

/// For the object's lifetime, the calling thread's calls do not disturb captures of other threads.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverApi& api) : api_(api) {
    exchanged_ = api_.exchange_capture_mode != nullptr && api_.exchange_capture_mode(&mode_) == CUDA_SUCCESS;
  }
  ~RelaxedCapture() {
    if (exchanged_) api_.exchange_capture_mode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  /// False where the driver refuses, such as in a function that a stream calls on the host.
  explicit operator bool() const { return exchanged_; }

 private:
  const DriverApi& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

/// For the object's lifetime, a context is the calling thread's current one.
class CurrentContext {
 public:
  /// nullptr: the one that is current anyway.
  CurrentContext(const DriverApi& api, CUcontext context) : api_(api) {
    if (api_.current_context == nullptr || api_.current_context(&is_) != CUDA_SUCCESS) is_ = nullptr;
    if (context == nullptr || context == is_) return;
    is_ = nullptr;
    if (api_.push_context == nullptr || api_.pop_context == nullptr) return;
    pushed_ = api_.push_context(context) == CUDA_SUCCESS;
    if (pushed_) is_ = context;
  }
  ~CurrentContext() {
    CUcontext popped = nullptr;
    if (pushed_) api_.pop_context(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  /// nullptr: none, or the driver refuses.
  CUcontext get() const { return is_; }

 private:
  const DriverApi& api_;
  CUcontext is_ = nullptr;
  bool pushed_ = false;
};

}  // namespace wicprof::collector
