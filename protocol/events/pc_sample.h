// Samples of one program counter with one stall reason, summed over an interval (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct PcSampleEvent {
  static constexpr EventKind kKind{15};
  EventHeader header;
  DeviceId device;
  TextId function;          ///< demangled
  TextId symbol;            ///< as the module has it
  TextId stall_reason;      ///< CUPTI's name without its prefix: "long_scoreboard", "membar"
  std::uint64_t module;     ///< CRC of the cubin
  std::uint64_t pc_offset;  ///< bytes from the start of the function
  std::int64_t begin_ns;
  std::int64_t at_ns;  ///< the interval's end
  TextId file;         ///< source file; 0 = not known
  std::uint32_t line;  ///< 0 = not known
  std::uint32_t samples;
  std::uint32_t reserved;
};

}  // namespace wicprof
