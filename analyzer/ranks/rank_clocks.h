// One clock for the traces of a job whose ranks ran on several machines, from the order in which MPI's calls must
// happen: nobody leaves a collective before the last has entered it, and no receive ends before its send began.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

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

struct RankClocks {
  std::vector<std::uint32_t> clock;  ///< by trace; traces of one machine have one
  std::vector<ClockShift> shifts;    ///< by clock; the first clock is left as it is
};

RankClocks rank_clocks(const std::vector<TraceModel>& traces);

}  // namespace wicprof::analyzer
