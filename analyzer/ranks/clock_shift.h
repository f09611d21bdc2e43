// What is added to the times of one clock to have those of another, from bounds that the order of events gives.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// A trace's begin in the time of day has whole seconds, and clocks of one boot are slewed since.
inline constexpr TimeNs kSameBoot = 2 * kSecond;

/// What is added to the times of one clock.
class ClockShift {
 public:
  struct Knot {
    TimeNs at, shift;  ///< at: on the clock itself
  };

  ClockShift() = default;
  ClockShift(std::vector<Knot> knots, TimeNs error, bool by_mpi);

  /// Linear between knots, and constant before the first and after the last one. Keeps the order of times.
  TimeNs at(TimeNs time) const;
  TimeNs error() const { return error_; }
  /// By calls of MPI; else by the time of day at the traces' begins.
  bool by_mpi() const { return by_mpi_; }

 private:
  std::vector<Knot> knots_;
  TimeNs error_ = 0;
  bool by_mpi_ = true;
};

/// A bound of the shift at a time, or where collectives end together, what the shift seems to be.
struct ShiftBound {
  TimeNs at;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
struct SeemingShift {
  TimeNs at;
  double shift;
  TimeNs shortest;
};

struct ShiftEvidence {
  std::vector<ShiftBound> bounds;     ///< in order of time
  std::vector<SeemingShift> seeming;  ///< in order of time
  std::optional<double> by_day;
  bool low = false, high = false;
};

/// `base` is added to all shifts. Where the bounds leave more open than the time of day does, that decides.
ClockShift shift_by(const ShiftEvidence& evidence, double base);

}  // namespace wicprof::analyzer
