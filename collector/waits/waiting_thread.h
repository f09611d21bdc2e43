// What the collector keeps for each thread that waits in calls of CUDA.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>

#include "collector/program/caller.h"
#include "collector/program/python_frames.h"
#include "collector/program/time_slice.h"
#include "collector/waits/cpu_meter.h"
#include "collector/waits/experience.h"
#include "collector/waits/host_memory.h"
#include "collector/waits/known_waits.h"
#include "collector/waits/others_work.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/short_waits.h"
#include "collector/waits/thread_wait.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "protocol/open_work.h"

namespace wicprof::collector {

/// The path by which the thread came to its last wait in a call of the driver: most waits follow one on the same path.
struct LastPath {
  std::uint8_t number = kNoNumber;  // of the driver's call
  std::uint8_t call = kNoNumber;    // whose name the wait has
  const void* from = nullptr;
  bool is(std::uint8_t of, const void* address) const { return number == of && from == address; }
};

/// What was found out about the thread's last copy: once for the call of the runtime and the driver's in it.
struct LastCopy {
  std::uint32_t correlation = 0;  // 0: there was none
  bool waits = false;
};

/// In one block, since finding what belongs to a thread costs a call.
struct WaitingThread {
  WaitingThread(ShortWaitsOfThreads& short_waits_of_threads, OwnCalls& own_calls_of_process, ShortSlices& short_slices)
      : all_short_waits(short_waits_of_threads), own_calls(own_calls_of_process), time_slice(short_slices) {}
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;
  ~WaitingThread() {
    all_short_waits.give_back(short_waits);
    own_calls.thread_ended(id);
  }

  ShortWaitsOfThreads& all_short_waits;
  OwnCalls& own_calls;
  // What every wait needs, side by side.
  ThreadWait wait;
  KnownWait* known = nullptr;           // that the current wait is like
  const KnownWait* shown_as = nullptr;  // that `shown` belongs to
  OwnOpenCall open_call;
  ShortWaits* const short_waits = all_short_waits.claim();
  bool calling_driver = false;            // our own calls of the driver are not the program's
  bool tries_replacing = false;           // and these show whether their arguments can be replaced
  bool shown_whole = false;               // the table's entry differs from `shown` in its begin alone
  std::uint8_t shown_number = kNoNumber;  // of the call whose name `shown` has
  OpenCall shown;                         // the wait, as the session's table of open calls has it
  std::uint64_t context = 0;              // in which it waits
  CpuMeter cpu_meter;
  KnownWaits known_waits;
  // The rest.
  ThreadsPlaces places;
  LastPath last_path;
  LastCopy copy;
  HostMemory host_memory;
  TimeSlice time_slice;
  // Of the call that the thread is in, until it returns.
  std::optional<OthersWork::Wait> others_wait;
  std::optional<CUstreamCaptureMode> capture_mode;  // to restore
  std::unique_ptr<Experience> experience;           // once it has waited by wic-prof's strategies
  Caller caller;
  PythonFrames::Cache python;
  const std::uint32_t id = static_cast<std::uint32_t>(syscall(SYS_gettid));

  Experience& experienced() {
    if (experience == nullptr) experience = std::make_unique<Experience>();
    return *experience;
  }
};

/// The thread calls the driver for itself for as long as the object lives.
struct CallingDriver {
  explicit CallingDriver(WaitingThread& thread) : thread_(thread) { thread_.calling_driver = true; }
  ~CallingDriver() { thread_.calling_driver = false; }
  CallingDriver(const CallingDriver&) = delete;
  CallingDriver& operator=(const CallingDriver&) = delete;

 private:
  WaitingThread& thread_;
};
static_assert(std::size(kWaitingCalls) <= Caller::kCalls);
static_assert(WaitSites::kMost < CpuMeter::kPlaces);

}  // namespace wicprof::collector
