// Times of others as nanoseconds on the trace's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/time.h"

namespace wicprof::imports {

/// Nothing where the sum has no room in 64 bits, or is negative.
inline std::optional<TimeNs> shifted(std::int64_t time, TimeNs by) {
  TimeNs sum = 0;
  if (__builtin_add_overflow(time, by, &sum) || sum < 0) return std::nullopt;
  return sum;
}

/// Microseconds with a fraction, as JSON writes them, in nanoseconds without the rounding of a double: "12.345" is
/// 12,345. Digits below a nanosecond are cut. Nothing for an exponent or what has no room.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

}  // namespace wicprof::imports
