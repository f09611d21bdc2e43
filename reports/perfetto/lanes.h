// Tracks of one name side by side: Perfetto drops slices of one track that overlap without nesting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Each slice goes to the first lane that is free; take() is called in order of time.
class Lanes {
 public:
  /// `nested`: whether a lane may take a slice within its last slice.
  Lanes(std::uint64_t most, bool nested) : most_(most), nested_(nested) {}

  std::uint64_t take(TimeNs begin, TimeNs end) {
    end = std::max(end, begin + 1);  // as it is drawn
    for (std::uint64_t lane = 0; lane < lanes_.size(); ++lane) {
      if (fits(lanes_[lane], begin, end)) return lane;
    }
    if (lanes_.size() < most_) lanes_.emplace_back();
    lanes_.back().push_back(end);
    return lanes_.size() - 1;
  }

 private:
  using Open = std::vector<TimeNs>;  // the ends of nested slices, outermost first

  bool fits(Open& open, TimeNs begin, TimeNs end) const {
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty() && !(nested_ && end <= open.back())) return false;
    open.push_back(end);
    return true;
  }

  std::uint64_t most_;
  bool nested_;
  std::vector<Open> lanes_;
};

}  // namespace wicprof::reports
