// A time axis: the coordinate of a time, and the round times to label.
#pragma once

#include <string>

#include "protocol/time.h"

namespace wicprof::reports {

struct Axis {
  TimeNs from = 0, to = 1;
  double first = 0, last = 1;  ///< the coordinates of from and to

  double at(TimeNs time) const {
    const TimeNs length = to > from ? to - from : 1;
    return first + (last - first) * static_cast<double>(time - from) / static_cast<double>(length);
  }
};

/// Round steps of 1, 2 or 5 times a power of ten, at most `most` of them over `length`.
TimeNs tick_step(TimeNs length, int most);

/// The labels of an axis along x, as text elements at height `at`, at most `most` of them; `zero` is the time
/// labelled 0. Labels right of `inside` end at their tick, so that they stay within the drawing.
std::string time_labels(const Axis& axis, TimeNs zero, int most, double at, double inside);

/// "2.5 ms": all labels of one axis have the same unit and number of digits.
std::string tick_label(TimeNs value, TimeNs step, TimeNs largest);

}  // namespace wicprof::reports
