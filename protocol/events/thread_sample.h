// What the operating system's scheduler did with one thread of the program in an interval (host times). The tool
// samples this from outside.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct ThreadSampleEvent {
  static constexpr EventKind kKind{24};
  EventHeader header;
  std::uint32_t pid;
  std::uint32_t thread;
  TextId name;
  std::uint32_t reserved;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t cpu_ns;        ///< on a CPU
  std::int64_t run_delay_ns;  ///< ready to run without a CPU; -1 = the kernel does not report it
  std::uint64_t voluntary_switches;
  std::uint64_t involuntary_switches;
};

}  // namespace wicprof
