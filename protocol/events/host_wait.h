// A host thread that waits: at a wait site, or in a synchronizing call.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/wait.h"

namespace wicprof {

/// What a call waits for.
enum class Awaited : std::uint8_t { unknown = 0, stream = 1, event = 2, device = 3, copy = 4 };

/// Host times. Comparing `cpu_ns` with the wall time distinguishes spinning from sleeping.
struct HostWaitEvent {
  static constexpr EventKind kKind{8};
  EventHeader header;
  SiteId site;  ///< of a call: the place in the program that makes it; 0 = not known
  TextId call;  ///< 0 for a wait in the program's own code
  std::uint32_t thread;
  std::uint32_t iteration;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t cpu_ns;        ///< -1 = not known
  std::uint32_t polls;        ///< 0 = not known
  std::uint32_t correlation;  ///< of the call; 0 = none
  WaitStatus status;
  std::uint8_t names_wanted;  ///< 1: the condition names the value that it waits for: `wanted`
  WordTag word_tag;           ///< 0 for a call
  std::uint32_t
      involuntary_switches;   ///< times that the thread was preempted during the wait; kUnknownSwitches = not known
  std::int64_t run_delay_ns;  ///< ready to run without a CPU during the wait; -1 = not known
  std::uint32_t value;        ///< at a site: the value of the word that ended the wait, or the code of one bit
  std::uint32_t wanted;       ///< at a site
  Awaited awaited;            ///< of a call
  std::uint8_t strategy;      ///< how wic-prof waited in the call's place (StrategyId); 0 = the program's own way
  std::uint8_t reserved[2];
  std::uint32_t naps;         ///< times that wic-prof slept in the call's place
  std::int64_t predicted_ns;  ///< the wait's length as predicted at its begin; 0 = none

  static constexpr std::uint32_t kUnknownSwitches = 0xffffffffu;
};

}  // namespace wicprof
