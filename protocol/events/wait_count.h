// How often threads have waited at a patched loop in some time, most of them too briefly for a WaitEvent.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/site.h"

namespace wicprof {

struct WaitCountEvent {
  static constexpr EventKind kKind{33};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::int64_t begin_ns;  ///< of the interval, on the host's clock
  std::int64_t end_ns;
  std::uint64_t waits;    ///< that went round at least once; lanes of a warp that wait together count once
  std::uint64_t looked;   ///< of these, those of at least 20 us, each of which has a WaitEvent unless records were lost
  std::uint64_t sampled;  ///< of the others, those whose rounds and time are known
  std::uint64_t sampled_rounds;
  std::uint64_t sampled_ns;  ///< from the first round's clock to the last one's
};

}  // namespace wicprof
