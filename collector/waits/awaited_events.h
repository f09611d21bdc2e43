// The program's events for which threads wait in wic-prof. A call waits for an event as it is when the call begins;
// whoever asks the driver later gets the answer of what has been recorded last. So before an event is recorded anew, or
// destroyed, a thread's wait for it is given an event of ours that stands for what it was.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/waits/driver_api.h"
#include "collector/waits/own_handles.h"

namespace wicprof::collector {

/// The calls before which changes() is to be called. Enabled while threads wait, since programs record events often.
inline constexpr CUpti_CallbackId kRecordCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuEventRecord, CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz};

/// Any thread.
class AwaitedEvents {
 public:
  AwaitedEvents(const DriverApi& driver, OwnHandles& handles) : driver_(driver), handles_(handles) {}
  AwaitedEvents(const AwaitedEvents&) = delete;
  AwaitedEvents& operator=(const AwaitedEvents&) = delete;

  /// `watch(on)`: enables or disables the callbacks of kRecordCalls: at the first wait, and at the first one after
  /// stop_watching().
  void on_watching(std::function<void(bool)> watch) { watch_ = std::move(watch); }
  /// Whether nobody waits, nor has waited since the last call of this function. One thread.
  bool idle() { return !used_.exchange(false) && count_.load() == 0 && watching_; }
  /// Disables the callbacks, unless somebody waits, or has waited since idle().
  void stop_watching();

 private:
  struct Entry {
    std::mutex mutex;  // during calls of the driver that wait for nobody
    CUevent event = nullptr;
    CUcontext context = nullptr;  // of the waiting thread
    OwnHandles::Event instead;
    CUstream stream = nullptr;  // in which `instead` is recorded
  };

 public:
  /// A thread's wait for an event.
  class Wait {
   public:
    /// `context`: the calling thread's current one.
    Wait(AwaitedEvents& events, CUevent event, CUcontext context);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    /// The driver's answer for the event as it was when the object was made.
    CUresult query();
    /// The event of ours that stands for it; nullptr: it is as it was.
    CUevent instead();

   private:
    AwaitedEvents& events_;
    std::shared_ptr<Entry> awaited_;
  };

  /// The calling thread is about to record or destroy the event.
  void changes(CUevent event);

 private:
  void stand_in_for(Entry& awaited);
  void start_watching();

  const DriverApi& driver_;
  OwnHandles& handles_;
  std::function<void(bool)> watch_;
  std::mutex watch_mutex_;  // so that the callbacks are as `watching_` says
  std::atomic<bool> watching_{false}, used_{false};
  std::atomic<int> count_{0};
  std::mutex mutex_;  // of the list
  std::vector<std::shared_ptr<Entry>> awaited_;
};

}  // namespace wicprof::collector
