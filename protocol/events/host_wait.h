// A host thread that waits: at a wait site, or in a synchronizing call.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/wait.h"

namespace wicprof {

/// Host times. Comparing `cpu_ns` with the wall time distinguishes spinning from sleeping.
struct HostWaitEvent {
  static constexpr EventKind kKind{8};
  EventHeader header;
  SiteId site;  ///< 0 for a call
  TextId call;  ///< 0 for a site
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

  static constexpr std::uint32_t kUnknownSwitches = 0xffffffffu;
};

}  // namespace wicprof
