// A lane of a large trace, from its summaries instead of its rows: the time spent in each state and the number of
// events begun, up to any moment. Exact at the edges of the summaries' columns, interpolated linearly inside them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gui/view/colours.h"
#include "store/summaries/lane_block.h"

namespace wicprof::gui {

/// Immutable; any thread.
class Coarse {
 public:
  Coarse(const store::Lane& lane, TimeNs origin, const std::vector<store::LaneBlock>& whole);
  /// The same lane with finer columns in one stretch (contiguous blocks); elsewhere the columns of `whole`.
  Coarse(const Coarse& whole, const std::vector<store::LaneBlock>& finer);

  std::uint64_t events() const { return events_; }
  std::uint32_t most() const { return most_; }
  /// The states that occur in the lane.
  const std::vector<std::uint8_t>& states() const { return states_; }

  /// Moves over the lane from left to right; each time must be at or after the previous one.
  class Cursor {
   public:
    /// `begin`, `end`: the range of all queries.
    Cursor(const Coarse& lane, TimeNs begin, TimeNs end);
    struct Sums {
      std::array<double, kStates> time{};  ///< ns, summed over events
      double begun = 0;                    ///< events; fractional inside a column
    };
    /// Sums from a fixed moment before `begin` up to `time`; use differences.
    Sums up_to(TimeNs time);

   private:
    const Coarse& lane_;
    const std::vector<std::shared_ptr<const struct CoarseBlock>>* blocks_;
    std::size_t at_ = 0;
    Sums before_;
  };

  Cursor::Sums between(TimeNs begin, TimeNs end) const;

 private:
  std::uint64_t events_ = 0;
  std::uint32_t most_ = 0;
  TimeNs origin_ = 0;
  std::vector<std::uint8_t> states_;
  std::vector<std::shared_ptr<const struct CoarseBlock>> whole_, finer_;
};

}  // namespace wicprof::gui
