// Whether the program, or who started it, hears what the driver says of calls that fail. Nothing of ours may fail on
// purpose then: a listener would take it for the program's.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdlib>

namespace wicprof::collector {

/// Any thread.
class ErrorListeners {
 public:
  /// The call after which there is one. An earlier CUPTI than that of CUDA 13 does not have it, nor does its driver.
  static constexpr CUpti_CallbackId kCall = CUPTI_DRIVER_TRACE_CBID_cuLogsRegisterCallback;

  void called() { any_.store(true, std::memory_order_relaxed); }
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> any_{std::getenv("CUDA_LOG_FILE") != nullptr};  // the driver's: a file, stdout or stderr
};

}  // namespace wicprof::collector
