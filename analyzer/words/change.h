// How people read a change: "-6 %", "121 times shorter", "no upper bound". The terminal, the report and the window
// use the same words; JSON keeps the ratios.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::analyzer {

/// What a smaller and a larger value of a quantity is called.
struct ChangeWords {
  std::string_view less, more;
};
inline constexpr ChangeWords kTimeWords{"shorter", "longer"};
inline constexpr ChangeWords kCountWords{"fewer", "more"};
inline constexpr ChangeWords kAmountWords{"less", "more"};

/// From this factor on, a change is told as a factor instead of a percentage.
inline constexpr double kFactorFrom = 2;
/// A bound that is so many times away from the value bounds nothing that a reader could use. Not calibrated: the
/// largest ratio of two equal units that was measured is below 10 (docs/truth.md).
inline constexpr double kNoBound = 1000;

/// A changed quantity as its value after over its value before, with the ends of the interval. All are positive.
struct ChangeRange {
  double value = 1, low = 1, high = 1;
};
/// The change of a time whose speed-up (time before / time after) has this value and this interval.
constexpr ChangeRange change_of_speedup(double value, double low, double high) {
  return {1 / value, 1 / high, 1 / low};
}

/// By how much a quantity changed: "-6 %", "+1.4 %", "0 %", "121 times shorter", "4.93 times longer". Percentages
/// below 5 may have a decimal. "unknown" unless the ratio is positive.
std::string change_text(double after_over_before, ChangeWords words = kTimeWords);

/// The interval of a change, in the terms of its value: "-14 % to +2 %", "115 to 118 times shorter", "13.7 times
/// shorter to 4.93 times longer", "+2 % to shorter, no upper bound".
std::string change_interval_text(const ChangeRange& change, ChangeWords words = kTimeWords);

/// The change as a comparison: "6 % shorter", "121 times shorter", "equally long" (`same`) if it rounds to nothing.
std::string comparative_text(double after_over_before, ChangeWords words = kTimeWords,
                             std::string_view same = "equally long");

/// An interval without a value, as a comparison: "2 % to 30 % shorter", "2.1 to 30 times shorter", "10 % shorter to 5 %
/// longer".
std::string comparative_interval_text(double low, double high, ChangeWords words = kTimeWords);

}  // namespace wicprof::analyzer
