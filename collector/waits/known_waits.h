// Waits that are like one that the thread has made before: the same call for the same object from the same place on the
// stack. All that recording a wait finds out is known of them but their times, which matters where a call finds its
// work done: looking everything up again would take longer than the call.
#pragma once

#include <cupti.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/program/python_frames.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

/// What was found out about a wait that was too short to sleep in and was the program's own.
struct KnownWait {
  std::uint8_t number = kNoNumber;        ///< of the driver's call
  std::uint8_t call = kNoNumber;          ///< of the call whose name the wait has
  const void* frame = nullptr;            ///< of the callback
  const void* object = nullptr;           ///< the call's argument
  const CUctx_st* context = nullptr;      ///< in which it was made
  const void* const* returns = nullptr;   ///< where on the stack the address lies to which the program's call returns
  const void* from = nullptr;             ///< that address
  PythonFrames::Function function;        ///< in which the thread was
  ThreadsPlaces::Place* place = nullptr;  ///< where the thread counts its waits
  std::uint64_t key = 0;                  ///< of that place
  std::uint32_t text_generation = 0;      ///< in which the texts of `event` have their numbers
  HostWaitEvent event;                    ///< as the wait was recorded
};

/// Of one thread, used by that thread alone.
class KnownWaits {
 public:
  /// The known wait that is like the one that begins; nullptr: none. Reads a word of the callers' frames, which
  /// AddressSanitizer takes for an error.
  __attribute__((no_sanitize("address"))) KnownWait* find(std::uint8_t number, const void* frame, const void* object,
                                                          const CUctx_st* context) {
    for (KnownWait& one : waits_) {
      if (one.number == number && one.frame == frame && one.object == object && one.context == context &&
          *one.returns == one.from) {
        return &one;
      }
    }
    return nullptr;
  }

  /// Room for a further one, in place of the oldest.
  KnownWait& add() { return waits_[next_++ % kRoom]; }

  void forget() { waits_ = {}; }

 private:
  /// A program waits in few places in turn. Not calibrated.
  static constexpr std::size_t kRoom = 4;
  std::array<KnownWait, kRoom> waits_;
  std::size_t next_ = 0;
};

/// The argument of a call of the driver that waits for one object: that of cuStreamSynchronize and its like. A copy is
/// like any other one from its place.
inline const void* object_of(std::uint8_t number, const void* params) {
  const WaitingCall& call = kWaitingCalls[number];
  if (call.id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize || call.copy != CopyCall::none || params == nullptr)
    return nullptr;
  return *static_cast<const void* const*>(params);
}
static_assert(sizeof(cuStreamSynchronize_params) == sizeof(void*) &&
              sizeof(cuEventSynchronize_params) == sizeof(void*) &&
              sizeof(cuCtxSynchronize_v2_params) == sizeof(void*));

}  // namespace wicprof::collector
