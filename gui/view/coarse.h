// A lane as its trace's summaries tell of it: how much time was spent in each state, and how many things began, up to
// any moment. Exact at the columns' edges, in proportion within a column. In place of the rows where these are too
// many.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gui/view/colours.h"
#include "store/summaries/lane_block.h"

namespace wicprof::gui {

/// Never changed once made; any thread.
class Coarse {
 public:
  Coarse(const store::Lane& lane, TimeNs origin, const std::vector<store::LaneBlock>& whole);
  /// The same lane with finer columns in a stretch: blocks side by side. Outside of it, those of the whole.
  Coarse(const Coarse& whole, const std::vector<store::LaneBlock>& finer);

  std::uint64_t events() const { return events_; }
  std::uint32_t most() const { return most_; }
  /// The states that anything is ever in.
  const std::vector<std::uint8_t>& states() const { return states_; }

  /// From left to right over the lane; the next moment may not lie before the last.
  class Cursor {
   public:
    /// `begin`, `end`: all that will be asked for.
    Cursor(const Coarse& lane, TimeNs begin, TimeNs end);
    struct Sums {
      std::array<double, kStates> time{};  ///< ns times things
      double begun = 0;                    ///< things; a part of one, where a column is cut
    };
    /// From some moment before `begin` up to `time`.
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
