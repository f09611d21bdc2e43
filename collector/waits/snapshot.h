// What a call of the driver waits for, as it is when the call begins: whoever asks for a stream or a device later is
// told of work that has come since, too.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>

#include "collector/waits/awaited_events.h"
#include "collector/waits/driver_api.h"
#include "collector/waits/open_captures.h"
#include "collector/waits/own_handles.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

/// What a call of the driver is about to wait for.
struct Awaitable {
  Awaited kind = Awaited::unknown;
  CUstream stream = nullptr;  ///< explicit: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD in place of the default stream
  CUevent event = nullptr;
  CUcontext context = nullptr;  ///< of a device; nullptr: the current one
};

/// What waiting in a call's place uses.
struct ParkTools {
  const DriverApi& driver;
  OpenCaptures& captures;
  OwnHandles& handles;
  AwaitedEvents& events;
};

/// `pending`: the work goes on. `unknown`: the driver reports an error, or does not say.
enum class Answer : std::uint8_t { pending, done, unknown };

/// Used by the waiting thread, in relaxed capture mode, for the time of one call.
///   a stream, a copy in it    an event of ours is recorded in the stream
///   the legacy default stream nothing stands for it: it is asked as it is now. An event in it would have the work of
///                             other streams wait for the work in front of the event, which may wait for them (298 ms,
///                             until the kernel's deadline, on an H200)
///   a device                  the same: of streams that do not block, nothing is known, and the call waits for them
///   an event                  AwaitedEvents
class Snapshot {
 public:
  /// Takes it, while no capture is open.
  Snapshot(ParkTools& tools, const Awaitable& what);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  /// False: a capture is open, or the driver refuses. The call waits by itself then.
  explicit operator bool() const { return event_.get() != nullptr || wait_ || asks_; }

  /// Asks the driver; never waits.
  Answer ask();
  /// Waits as the driver does, where it can wait for the snapshot; `pending`: the call itself has to.
  Answer wait();

  /// In which the work is.
  CUcontext context() const { return context_; }

 private:
  bool legacy() const {
    return what_.kind == Awaited::device || (what_.stream == CU_STREAM_LEGACY && what_.kind != Awaited::event);
  }
  void take();
  /// The legacy default stream of context().
  Answer ask_default_stream();

  ParkTools& tools_;
  const Awaitable what_;
  CUcontext context_ = nullptr;
  OwnHandles::Event event_;
  std::optional<AwaitedEvents::Wait> wait_;
  bool asks_ = false;  // the legacy stream
};

}  // namespace wicprof::collector
