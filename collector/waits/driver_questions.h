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
    if (driver_.pointer_attributes == nullptr) return MemoryKind::unknown;
    const CallingDriver calling(thread_);
    const OwnCalls::Span own(thread_.own_calls, thread_.id);
    // The call for several attributes does not fail where the driver does not know the address: nobody hears an error.
    CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    CUmemorytype type{};
    void* values[] = {&type};
    if (driver_.pointer_attributes(1, &which, values, static_cast<CUdeviceptr>(address)) != CUDA_SUCCESS)
      return MemoryKind::unknown;
    if (type == CUmemorytype{}) return MemoryKind::pageable;
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
