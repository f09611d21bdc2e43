// The stretches of a trace that a document of bounded size keeps: everything in a kept stretch, nothing in the others.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Half-open, in order of time.
struct LeftOut {
  TimeNs begin = 0, end = 0;
  std::size_t rows = 0;
};

class Stretches {
 public:
  /// Enough that the kept rows come close to the asked-for part, and few enough that a stretch holds whole iterations.
  static constexpr std::size_t kMost = 400;

  /// Keeps everything.
  Stretches() = default;

  /// Divides the run into stretches in which equally many rows begin, and keeps `part` of them, 0 to 1: those around
  /// `marks` first, and the others at equal distances. `begins`: of all rows, in any order.
  Stretches(std::vector<TimeNs> begins, const std::vector<TimeNs>& marks, double part);

  bool keeps(TimeNs begin) const;
  const std::vector<LeftOut>& left_out() const { return left_out_; }

 private:
  std::vector<LeftOut> left_out_;
};

}  // namespace wicprof::reports
