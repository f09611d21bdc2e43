// A thread's wait in a call of CUDA.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/waits/cpu_meter.h"
#include "collector/waits/predictor.h"
#include "collector/waits/wait_plan.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// A thread's current wait: WaitObserver writes what it is, Parker how it is waited for. Runtime calls contain driver
/// calls; only the outermost call is a wait.
struct ThreadWait {
  int depth = 0;
  std::uint32_t recording = 0;  // the recording in which it began: callbacks stop between two
  TimeNs begin = 0;
  TimeNs last_end = 0;  // of the last wait that ended: the counter's time may be a little before the system's
  CpuUse use;           // once it has ended
  PlaceOfWait place;
  std::uint8_t outer = kNoNumber;   // the outermost call
  std::uint8_t number = kNoNumber;  // the call whose name the wait has
  std::uint32_t correlation = 0;
  const void* from = nullptr;   // where the program makes it; nullptr: not looked up
  const void* frame = nullptr;  // of the callback at its begin
  // Of waiting in the call's place.
  StrategyId strategy = StrategyId::poll;
  std::uint32_t polls = 0, naps = 0;
  std::optional<Forecast> forecast;
  HybridWay way = HybridWay::learning;
  bool learns = true;  // `hybrid`, from this wait
};

}  // namespace wicprof::collector
