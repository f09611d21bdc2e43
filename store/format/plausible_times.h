// Which times the rows of one trace may have. A stray write or a device's clock gone wrong makes times that are years
// away; sums and widths computed from them would overflow.
#pragma once

#include "protocol/time.h"

namespace wicprof::store {

/// 13 days: longer than any known recording, and short enough that no sum of such lengths overflows. Not calibrated.
inline constexpr TimeNs kMaxDistance = TimeNs{1} << 50;

/// Beyond any clock's reading: 73 years. The sum or difference of two such times does not overflow.
inline constexpr TimeNs kSane = TimeNs{1} << 61;
constexpr bool is_sane(TimeNs time) { return time > -kSane && time < kSane; }

struct PlausibleTimes {
  TimeNs from, upto;

  /// Times within kMaxDistance of two times of the recording. Times too large for any clock count as 0.
  static PlausibleTimes between(TimeNs first, TimeNs last) {
    const auto sane = [](TimeNs time) { return is_sane(time) ? time : 0; };
    return {sane(first) - kMaxDistance, sane(last) + kMaxDistance};
  }
  static PlausibleTimes around(TimeNs middle) { return between(middle, middle); }

  bool has(TimeNs time) const { return time >= from && time <= upto; }
  bool has(TimeNs begin, TimeNs end) const { return has(begin) && has(end); }
};

}  // namespace wicprof::store
