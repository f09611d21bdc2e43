// The calls of the driver in which no thread waits, but which decide about waits that come later. Their callbacks are
// always on: an event may be created, and memory pinned, long before a toggle asks for what they tell.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <iterator>

#include "collector/waits/awaited_events.h"
#include "collector/waits/error_listeners.h"
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
    for (const CUpti_CallbackId id : kSharingCalls) enable(id);
    enable(ErrorListeners::kCall);
  }

  /// Whether the call gives another process memory of a GPU, or takes it.
  static bool shares_memory(CUpti_CallbackId id) { return is_one_of(kSharingCalls, id); }

  /// At the begin and at the end of any call of the driver.
  void note(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const bool ends = data.callbackSite == CUPTI_API_EXIT;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuEventCreate) {
      const auto& params = *static_cast<const cuEventCreate_params*>(data.functionParams);
      if (ends && params.phEvent != nullptr) events_.created(*params.phEvent, params.Flags);
    } else if (is_one_of(kEventCalls, id)) {
      if (!ends && leaves_plain(id, data.functionParams)) events_.removed(first_event(id, data.functionParams));
    } else if (is_one_of(kHostMemoryCalls, id)) {
      HostMemory::changed();
    } else if (id == ErrorListeners::kCall) {
      listeners_.called();
    } else if (is_one_of(kCaptureCalls, id)) {
      ends ? captures_.returned(id, *static_cast<const CUresult*>(data.functionReturnValue)) : captures_.called(id);
    }
  }

  /// The event that the call is about to change or to destroy; nullptr: none.
  static CUevent changed_event(CUpti_CallbackId id, const void* params) {
    if (is_one_of(kRecordCalls, id)) return static_cast<const cuEventRecord_params*>(params)->hEvent;
    const bool destroys =
        id == CUPTI_DRIVER_TRACE_CBID_cuEventDestroy || id == CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2;
    return destroys ? first_event(id, params) : nullptr;
  }

  static bool begins_capture(CUpti_CallbackId id) { return is_one_of(kCaptureCalls, id) && !OpenCaptures::ends(id); }

  const PlainEvents& events() const { return events_; }
  OpenCaptures& captures() { return captures_; }
  const ErrorListeners& listeners() const { return listeners_; }
  const OpenCaptures& captures() const { return captures_; }

 private:
  static bool is_one_of(const auto& calls, CUpti_CallbackId id) {
    return std::ranges::find(calls, id) != std::end(calls);
  }
  static bool leaves_plain(CUpti_CallbackId id, const void* params) {
    return (id != CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags &&
            id != CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz) ||
           (static_cast<const cuEventRecordWithFlags_params*>(params)->flags & CU_EVENT_RECORD_EXTERNAL) != 0;
  }
  /// Of a call of kEventCalls but the first.
  static CUevent first_event(CUpti_CallbackId id, const void* params) {
    switch (id) {
      case CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode:
        return static_cast<const cuGraphAddEventRecordNode_params*>(params)->event;
      case CUPTI_DRIVER_TRACE_CBID_cuGraphEventRecordNodeSetEvent:
        return static_cast<const cuGraphEventRecordNodeSetEvent_params*>(params)->event;
      case CUPTI_DRIVER_TRACE_CBID_cuGraphExecEventRecordNodeSetEvent:
        return static_cast<const cuGraphExecEventRecordNodeSetEvent_params*>(params)->event;
      default:
        return static_cast<const cuEventDestroy_v2_params*>(params)->hEvent;  // recorded likewise
    }
  }

  // Created, destroyed, or recorded by graphs from now on, which no callback reports.
  static constexpr CUpti_CallbackId kEventCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventDestroy,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags,
                                                     CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz,
                                                     CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode,
                                                     CUPTI_DRIVER_TRACE_CBID_cuGraphEventRecordNodeSetEvent,
                                                     CUPTI_DRIVER_TRACE_CBID_cuGraphExecEventRecordNodeSetEvent};
  static constexpr CUpti_CallbackId kSharingCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle,
                                                       CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle,
                                                       CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2,
                                                       CUPTI_DRIVER_TRACE_CBID_cuMemExportToShareableHandle,
                                                       CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle,
                                                       CUPTI_DRIVER_TRACE_CBID_cuMemPoolExportPointer,
                                                       CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer};
  PlainEvents events_;
  OpenCaptures captures_;
  ErrorListeners listeners_;
};

}  // namespace wicprof::collector
