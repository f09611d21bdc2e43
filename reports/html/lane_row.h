// A row of a lane while its stretches are collected. Its memory is bounded, however many events it shows: from
// kMostSingle stretches on, those of one state within one grain of time, far narrower than a pixel, become one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "reports/html/lanes.h"

namespace wicprof::reports::html {

/// Divides the time of a trace, and that of each close-up, into grains. Immutable.
class Grains {
 public:
  static constexpr std::int64_t kEach = 32'768;  ///< of the trace and of a close-up: over 30 per pixel of a wide page

  /// `fine`: in order of time, without overlap.
  Grains(Interval whole, std::vector<Interval> fine) : whole_(whole), fine_(std::move(fine)) {}
  /// The number of the grain that has this time. No grain has times on both sides of the begin or end of a close-up.
  std::int64_t at(TimeNs time) const;

 private:
  Interval whole_;
  std::vector<Interval> fine_;
};

/// Collects the stretches of one row.
class LaneRow {
 public:
  static constexpr std::size_t kMostSingle = 20'000;  ///< more than the lanes of a page can show one by one

  /// `counted`: as in Lane. Stretches become one only if as many waiters are in both; else their counts add up.
  explicit LaneRow(bool counted = false) : counted_(counted) {}
  /// In order of begin, nearly. A stretch that stands for several begins with the first and is as long as all of them
  /// together, so that sums of time stay exact within each grain.
  void add(const Stretch& stretch, const Grains& grains);
  TimeNs time() const { return time_; }  ///< of all stretches, in ns
  std::vector<Stretch> take() { return std::move(list_); }

 private:
  bool merges(const Stretch& stretch, const Grains& grains);

  struct Open {
    std::int64_t grain = -1;
    std::size_t at = 0;
  };
  bool counted_;
  TimeNs time_ = 0;
  std::vector<Stretch> list_;
  std::array<Open, kStates> open_{};  // the last stretch of each state that others can join
};

/// Counts how many overlap at once.
class MostAtOnce {
 public:
  /// In order of begin. What ends at a time does not overlap what begins then.
  void add(TimeNs begin, TimeNs end, std::uint32_t count = 1);
  std::uint64_t most() const { return most_; }

 private:
  using End = std::pair<TimeNs, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t now_ = 0, most_ = 0;
};

}  // namespace wicprof::reports::html
