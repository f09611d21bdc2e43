// How often threads have waited at a patched loop in some time, most of them too briefly for a WaitEvent.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/site.h"

namespace wicprof {

struct WaitCountEvent {
  static constexpr EventKind kKind{34};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::int64_t begin_ns;  ///< of the interval, on the host's clock
  std::int64_t end_ns;
  /// That went round at least once, estimated: looked + sampled x one_in, without `looked` where a site's waits have no
  /// known ends. Lanes of a warp that wait together count once. Below 0 where waits that an earlier event counted as
  /// sampled have lasted, which takes them from `sampled`.
  std::int64_t waits;
  std::uint64_t looked;  ///< those of at least 20 us, most of which have a WaitEvent (docs/schema.md)
  std::int64_t sampled;  ///< of the others, those that began in a window of time that was sampled, 1 of `one_in`
  /// The sum of the squares of kSampleParts numbers whose sum is `sampled`: each part has windows of its own.
  std::uint64_t sampled_squares;
  std::uint64_t timed;  ///< of the others, those that began in other windows, in which rounds and times are noted
  std::uint64_t timed_rounds;
  std::uint64_t timed_ns;  ///< from the first round's clock to the last one's
  std::uint32_t one_in;
  std::uint32_t reserved;
};
/// What the windows are divided into, so that the differences between the parts tell how good the estimate is.
inline constexpr std::uint32_t kSampleParts = 8;

}  // namespace wicprof
