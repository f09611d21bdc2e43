// Has a call of the driver return at once, since wic-prof has waited in its place: the callback at the call's entry
// replaces what the call is to wait for by something of ours that is idle. Otherwise the call would wait for what has
// come since, or meet a capture that has begun since.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <mutex>

#include "collector/program/per_thread.h"
#include "collector/waits/driver_api.h"
#include "collector/waits/error_listeners.h"
#include "collector/waits/own_handles.h"
#include "collector/waits/waiting_thread.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

/// That the driver takes a replaced argument is documented nowhere, so it is tried first: on a thread without a
/// context, a call for an idle stream succeeds and one for the default stream fails. Any thread.
class ReplacedArguments {
 public:
  ReplacedArguments(const DriverApi& driver, OwnHandles& handles, PerThread<WaitingThread>& threads,
                    const ErrorListeners& listeners)
      : driver_(driver), handles_(handles), threads_(threads), listeners_(listeners) {}
  ReplacedArguments(const ReplacedArguments&) = delete;
  ReplacedArguments& operator=(const ReplacedArguments&) = delete;

  /// Whether the driver takes one in the call with that callback. Tries it at the first question, with a thread of our
  /// own, which takes some 0.1 ms; false, without a try, where somebody would hear of the call that fails.
  /// `context`: alive.
  bool taken(CUpti_CallbackId id, CUcontext context);

  /// Replaces the argument. False: there is nothing to replace it by. `params`: of a call for which taken() is true.
  bool replace(CUpti_CallbackId id, void* params, CUcontext context);

  /// In the callback at the entry of a call that only tries whether its argument can be replaced
  /// (WaitingThread::tries_replacing).
  static void replace_by_nothing(CUpti_CallbackId id, void* params);

 private:
  enum class Kind : std::uint8_t { stream, event, none };
  static Kind kind_of(CUpti_CallbackId id);
  /// What the argument is replaced by; nullptr: nothing.
  void* idle_one(Kind kind, CUcontext context);
  bool try_call(Kind kind, void* idle);

  const DriverApi& driver_;
  OwnHandles& handles_;
  PerThread<WaitingThread>& threads_;
  const ErrorListeners& listeners_;
  std::once_flag tried_[2];
  bool taken_[2] = {};
};

}  // namespace wicprof::collector
