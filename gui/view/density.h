// How many of a track's warps are in each state over time, exact at every zoom. Each state stores the integral of its
// warp count at every change, so a column of any width is the difference of two integrals.
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

/// The same column with all waiting warps in the colour of the mode: warps at a barrier count as polling or parked,
/// like those that wait for the word in that column. So pictures of polling and of parking differ in all of their
/// waiting height, even where one warp of 32 reads the word.
DensityColumn by_mode(const DensityColumn& column);

/// Immutable after finish(); then any thread.
class Density {
 public:
  void add(State state, TimeNs begin, TimeNs end, std::uint32_t warps = 1);
  /// Call after the last add().
  void finish();
  /// Takes the rest from summaries. The added waits are complete in [begin, end) and replace the summaries there.
  void set_coarse(std::shared_ptr<const Coarse> coarse, TimeNs begin, TimeNs end);

  /// [begin, end) in `columns` columns. O(columns x log changes).
  std::vector<DensityColumn> draw(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  /// Warp time: the integral of the number of warps in `state` over [begin, end), in ns.
  double time_in(State state, TimeNs begin, TimeNs end) const;
  /// The most warps at once, all states together: the full height of a strip.
  std::uint32_t most() const { return coarse_ && coarse_->most() > most_ ? coarse_->most() : most_; }
  bool empty() const { return lines_.empty() && !coarse_; }
  /// The summaries; nullptr without.
  const Coarse* coarse() const { return coarse_.get(); }

 private:
  struct Change {
    TimeNs at;
    std::int32_t by;
  };
  // The number of warps in one state: a step function with its integral from the first step to each step.
  struct Line {
    State state;
    std::vector<TimeNs> at;
    std::vector<std::int32_t> level;  // from at[i] until at[i + 1]
    std::vector<double> before;       // integral up to at[i], in warp ns
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
