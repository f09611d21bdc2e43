// Records the waits of host threads: where each is made, how long it took, and what it took of the CPU. Parker waits.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <optional>

#include "collector/program/counter_clock.h"
#include "collector/waits/call_places.h"
#include "collector/waits/host_control.h"
#include "collector/waits/known_waits.h"
#include "collector/waits/waiting_calls.h"
#include "collector/waits/waits_of_process.h"
#include "protocol/event_batch.h"
#include "protocol/event_sink.h"
#include "protocol/open_work.h"

namespace wicprof::collector {

/// A call in which a thread waits, as a callback at its entry or its end shows it.
struct SeenCall {
  std::uint8_t number = kNoNumber;  ///< in kWaitingCalls
  const void* params = nullptr;     ///< its arguments; nullptr: not known
  CUcontext context = nullptr;      ///< in which it is made
  std::uint32_t correlation = 0;
  const int* result = nullptr;  ///< at its end; nullptr: not known
  const void* frame = nullptr;  ///< of the callback: one and the same function at every call
};

/// Any thread, each with its own state. Nothing here throws but for lack of memory.
class WaitObserver {
 public:
  /// `work`: the session's table of open calls; nullptr: none.
  WaitObserver(WaitsOfProcess& process, const HostControl& control, CallPlaces& places, OpenWork* work)
      : process_(process), control_(control), places_(places), work_(work) {}
  WaitObserver(const WaitObserver&) = delete;
  WaitObserver& operator=(const WaitObserver&) = delete;

  /// Recording begins, again or for the first time.
  void recording_begins() { recording_.fetch_add(1, std::memory_order_relaxed); }

  /// Before all else in a callback: forgets a wait of an earlier recording, whose end came without a callback.
  void look(ThreadWait& wait) const {
    if (wait.recording != recording_.load(std::memory_order_relaxed)) wait.depth = 0;
  }

  /// Whether the wait that begins is like one that the thread has made before, and the program's own way is in force.
  /// All that remains to do at its begin is done then, and end_known() is to be asked first at its end.
  bool begin_known(WaitingThread& thread, const SeenCall& call, EventSink& sink);
  /// The known wait ends: false where it was too long for that, or there is no room.
  bool end_known(WaitingThread& thread, const SeenCall& call);

  /// At the entry of a call. `what`: as the driver sees it.
  void begin(WaitingThread& thread, const SeenCall& call, const std::optional<Awaitable>& what, EventSink& sink);
  /// At the end of a call. Whether the thread's wait has ended (`thread.wait`); write() is to follow then.
  bool end(WaitingThread& thread, const SeenCall& call);
  void write(WaitingThread& thread, const SeenCall& call, EventSink& sink);

  /// Every 100 ms or so: writes the short waits. One thread.
  void tick(EventBatch& batch);
  /// The last call.
  void finish(EventSink& sink);

 private:
  void begin_outermost(WaitingThread& thread, PlaceOfWait place);
  void show(WaitingThread& thread, const SeenCall& call, const std::optional<Awaitable>& what);
  void note_end(const WaitingThread& thread, const SeenCall& call);
  HostWaitEvent* room(WaitingThread& thread, TimeNs now) const;
  void remember(WaitingThread& thread, const SeenCall& call, const HostWaitEvent& event, EventSink& sink);
  void fill(const WaitingThread& thread, HostWaitEvent& event, EventSink& sink);
  TextId text_of(std::uint32_t number, EventSink& sink);

  WaitsOfProcess& process_;
  const HostControl& control_;
  CallPlaces& places_;
  OpenWork* const work_;
  CounterClock clock_{CounterClock::system_uses_counter()};
  std::atomic<std::uint64_t> texts_[std::size(kWaitingCalls)] = {};  // the sink's generation and one, and the number
  std::atomic<std::uint32_t> recording_{0};                          // how often recording has begun
  std::atomic<bool> ticks_{false};                                   // waits that are kept will be passed on
};

}  // namespace wicprof::collector
