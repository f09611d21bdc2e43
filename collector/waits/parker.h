// Waits in the place of the program's calls, as the session wants it.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "collector/waits/awaited_events.h"
#include "collector/waits/driver_scopes.h"
#include "collector/waits/experience.h"
#include "collector/waits/host_control.h"
#include "collector/waits/noted_calls.h"
#include "collector/waits/others_work.h"
#include "collector/waits/own_handles.h"
#include "collector/waits/parking.h"
#include "collector/waits/replaced_arguments.h"
#include "collector/waits/snapshot.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_thread.h"
#include "collector/waits/waits_of_process.h"
#include "protocol/event_sink.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// A call of the driver whose entry a callback reports.
struct CallEntry {
  CUpti_CallbackId id;
  void* params;  ///< the call's arguments, which may be replaced
};

/// Any thread, each with its own state. Nothing here throws but for lack of memory.
class Parker {
 public:
  Parker(WaitsOfProcess& process, HostControl& control, const WaitSites& sites, NotedCalls& noted);
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// At the entry of a call that waits for `what`: waits for it in the call's place, if the session wants that, and has
  /// the call return at once then. `thread.wait` says how.
  void wait_in_place(WaitingThread& thread, const Awaitable& what, const CallEntry& call, EventSink& sink);

  /// A call of NotedCalls or kRecordCalls.
  void note(WaitingThread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  /// The context is about to be destroyed.
  void context_ends(CUcontext context) { handles_.context_ends(context); }

  /// The call of wait_in_place() has returned.
  void returned(WaitingThread& thread);
  /// The thread's wait has ended (`thread.wait`): `hybrid` learns from it.
  void ended(WaitingThread& thread);

  /// The calling thread is about to launch or to copy in that stream.
  void begins_work(const WaitingThread& thread, CUstream stream) { others_.begins(thread.id, stream); }

  /// `records(on)`, `launches(on)`: enable or disable the callbacks of kRecordCalls, or of kLaunches. Any thread.
  void on_watching(std::function<void(bool)> records, std::function<void(bool)> launches);
  /// Every 100 ms or so. One thread.
  void tick();
  /// Whether a call in whose place wic-prof has waited has not returned yet, as far as callbacks tell.
  bool holds_calls() const { return others_.any(); }

 private:
  /// Has the call wait for nothing.
  void settle(WaitingThread& thread, CUcontext context, const CallEntry& call, RelaxedCapture& relaxed);

  HostControl& control_;
  const WaitSites& sites_;
  NotedCalls& noted_;
  const DriverApi& driver_;
  OwnHandles handles_{driver_};
  AwaitedEvents events_{driver_, handles_};
  ReplacedArguments replaced_;
  ParkTools tools_;
  Learning learning_{control_};
  int idle_ticks_ = 0;
  OthersWork others_;
};

}  // namespace wicprof::collector
