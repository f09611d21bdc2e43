// A wait inside a kernel, from arrival to resumption.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class WaitStatus : std::uint8_t {
  satisfied = 0,
  deadline_passed = 1,
  producer_lost = 2,  ///< the producer's process or device is gone
};

/// One record per waiting group, written by its leader, or one per warp where every thread polls.
/// Times are on the clock of `device`.
struct WaitEvent {
  static constexpr EventKind kKind{6};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::uint32_t block;  ///< linear block index
  std::uint16_t warp;   ///< warp within the block
  std::uint16_t sm;
  std::uint32_t iteration;
  std::uint32_t polls;  ///< reads of the word by the recording thread
  std::uint64_t arrived_ns;
  std::uint64_t resumed_ns;
  std::uint32_t switched_after_ns;  ///< the first change of strategy noticed during this wait, after arrival; 0 = none
  std::uint32_t value;              ///< the value of the word that ended the wait, or the code of one bit (bit_value.h)
  std::uint8_t strategy;            ///< the strategy in force when the wait ended
  WaitStatus status;
  WordTag word_tag;
  std::uint8_t warps;           ///< of the waiting group; 0 = not known
  std::uint8_t each_thread;     ///< 1: every thread of the group polls in the program's own code
  std::uint8_t waited;          ///< 1: the word was not ready at the first poll
  std::uint8_t ahead_plus_one;  ///< 1 + `value` - the value that the wait wanted; 0 = not known, or too large
};

}  // namespace wicprof
