// A time that may be missing, in the space of a time.
#pragma once

#include <limits>
#include <optional>

#include "protocol/time.h"

namespace wicprof::store {

/// Behaves as std::optional<TimeNs> at half the size: a model may hold millions of waits.
class OptionalTime {
 public:
  constexpr OptionalTime() = default;
  constexpr OptionalTime(std::nullopt_t) {}
  constexpr OptionalTime(TimeNs time) : time_(time) {}
  constexpr OptionalTime(const std::optional<TimeNs>& time) : time_(time.value_or(kNothing)) {}
  constexpr operator std::optional<TimeNs>() const { return has_value() ? std::optional(time_) : std::nullopt; }

  constexpr bool has_value() const { return time_ != kNothing; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr TimeNs& operator*() { return time_; }
  constexpr const TimeNs& operator*() const { return time_; }
  constexpr TimeNs value_or(TimeNs otherwise) const { return has_value() ? time_ : otherwise; }
  constexpr void reset() { time_ = kNothing; }
  constexpr bool operator==(const OptionalTime&) const = default;

 private:
  static constexpr TimeNs kNothing = std::numeric_limits<TimeNs>::min();
  TimeNs time_ = kNothing;
};

}  // namespace wicprof::store
