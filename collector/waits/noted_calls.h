// The calls of the driver in which no thread waits, but which decide about waits that come later. Their callbacks are
// always on: an event may be created, and memory pinned, long before a toggle asks for what they tell.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <iterator>

#include "collector/waits/host_memory.h"
#include "collector/waits/open_captures.h"
#include "collector/waits/plain_events.h"

namespace wicprof::collector {

/// Any thread.
class NotedCalls {
 public:
  /// `enable(id)` for each of these calls.
  template <class Enable>
  static void each(Enable&& enable) {
    for (const CUpti_CallbackId id : kEventCalls) enable(id);
    for (const CUpti_CallbackId id : kHostMemoryCalls) enable(id);
    for (const CUpti_CallbackId id : kCaptureCalls) enable(id);
  }

  /// At the begin and at the end of any call of the driver.
  void note(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const auto is_one_of = [&](const auto& calls) { return std::ranges::find(calls, id) != std::end(calls); };
    const bool ends = data.callbackSite == CUPTI_API_EXIT;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuEventCreate) {
      const auto& params = *static_cast<const cuEventCreate_params*>(data.functionParams);
      if (ends && params.phEvent != nullptr) events_.created(*params.phEvent, params.Flags);
    } else if (is_one_of(kEventCalls)) {
      if (!ends) events_.destroyed(static_cast<const cuEventDestroy_v2_params*>(data.functionParams)->hEvent);
    } else if (is_one_of(kHostMemoryCalls)) {
      HostMemory::changed();
    } else if (ends && is_one_of(kCaptureCalls)) {
      captures_.returned(id, *static_cast<const CUresult*>(data.functionReturnValue));
    }
  }

  const PlainEvents& events() const { return events_; }
  const OpenCaptures& captures() const { return captures_; }

 private:
  static constexpr CUpti_CallbackId kEventCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventDestroy,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2};
  PlainEvents events_;
  OpenCaptures captures_;
};

}  // namespace wicprof::collector
