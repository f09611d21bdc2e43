// What the driver is asked about a copy, from a callback.
#pragma once

#include "collector/waits/driver_api.h"
#include "collector/waits/host_copy.h"
#include "collector/waits/open_captures.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/waiting_thread.h"

namespace wicprof::collector {

/// Of the calling thread.
class DriverQuestions final : public CopyQuestions {
 public:
  DriverQuestions(const DriverApi& driver, WaitingThread& thread, const OpenCaptures& captures)
      : driver_(driver), thread_(thread), captures_(captures) {}

  MemoryKind memory_of(std::uintptr_t address) override {
    if (driver_.pointer_attribute == nullptr) return MemoryKind::unknown;
    const CallingDriver calling(thread_);
    const OwnCalls::Span own(thread_.own_calls, thread_.id);
    CUmemorytype type{};
    const CUresult found =
        driver_.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, static_cast<CUdeviceptr>(address));
    if (found == CUDA_ERROR_INVALID_VALUE) return MemoryKind::pageable;
    if (found != CUDA_SUCCESS) return MemoryKind::unknown;  // such as on a thread without a context
    return type == CU_MEMORYTYPE_HOST ? MemoryKind::pinned : MemoryKind::device;
  }

  bool captures(CUstream stream) override {
    if (!captures_.any()) return false;
    if (driver_.stream_is_capturing == nullptr) return true;
    const CallingDriver calling(thread_);
    const OwnCalls::Span own(thread_.own_calls, thread_.id);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.stream_is_capturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

 private:
  const DriverApi& driver_;
  WaitingThread& thread_;
  const OpenCaptures& captures_;
};

}  // namespace wicprof::collector
