// How many of a track's warps are in each state over time, exact at every zoom: for each state the integral of their
// number over time is kept at every change, so that a column of any width is a difference of two.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gui/view/coarse.h"
#include "gui/view/colours.h"
#include "protocol/time.h"

namespace wicprof::gui {

/// The mean number of warps in each state during one column.
struct DensityColumn {
  float count[kStates] = {};
  float total() const;
};

/// Any thread once it is finished.
class Density {
 public:
  void add(State state, TimeNs begin, TimeNs end, std::uint32_t warps = 1);
  /// When all are in.
  void finish();
  /// The whole from summaries; what was added are all waits in [begin, end), and stands for that.
  void set_coarse(std::shared_ptr<const Coarse> coarse, TimeNs begin, TimeNs end);

  /// [begin, end) in `columns` columns. O(columns x log changes).
  std::vector<DensityColumn> draw(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  /// Warp time: the integral of the number of warps in a state over [begin, end), in ns.
  double time_in(State state, TimeNs begin, TimeNs end) const;
  /// The most warps at once, all states together; what a strip's full height stands for.
  std::uint32_t most() const { return coarse_ && coarse_->most() > most_ ? coarse_->most() : most_; }
  bool empty() const { return lines_.empty() && !coarse_; }

 private:
  struct Change {
    TimeNs at;
    std::int32_t by;
  };
  // The number of warps in one state: a step function, with its integral from the beginning up to each step.
  struct Line {
    State state;
    std::vector<TimeNs> at;
    std::vector<std::int32_t> level;  // from at[i] on
    std::vector<double> before;       // warp ns before at[i]
    double up_to(TimeNs time, std::size_t& hint) const;
  };
  std::vector<Change> changes_[kStates];
  std::vector<Line> lines_;
  std::uint32_t most_ = 0;
  std::shared_ptr<const Coarse> coarse_;
  TimeNs fine_begin_ = 0, fine_end_ = 0;
  bool fine_in(TimeNs begin, TimeNs end) const { return !coarse_ || (begin >= fine_begin_ && end <= fine_end_); }
};

}  // namespace wicprof::gui
