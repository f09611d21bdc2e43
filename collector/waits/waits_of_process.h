// What the waits of all threads of a process share.
#pragma once

#include "collector/program/per_thread.h"
#include "collector/program/short_slices.h"
#include "collector/program/time_slice.h"
#include "collector/waits/driver_api.h"
#include "collector/waits/open_kernels.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/short_waits.h"
#include "collector/waits/waiting_thread.h"

namespace wicprof::collector {

/// Any thread. Never destroyed in a program: its threads and CUPTI may use it until the process ends.
struct WaitsOfProcess {
  explicit WaitsOfProcess(const DriverApi& of_driver = DriverApi::loaded()) : driver(of_driver) {}

  const DriverApi& driver;
  ShortSlices short_slices;
  OwnCalls own_calls;
  OpenKernels open_kernels;
  ShortWaitsOfThreads short_waits;
  PerThread<WaitingThread> threads{short_waits, own_calls, short_slices};

  /// Frees what belongs to a session, before its memory goes. No thread may be in a callback.
  void forget() {
    threads.forget([](WaitingThread& thread) {
      if (thread.time_slice.is_short()) restore_short_slice(static_cast<pid_t>(thread.id));
    });
    open_kernels.detach();
  }
};

}  // namespace wicprof::collector
