// Very many lengths of time, and their percentiles. Holds four bytes for a length from 0 to 4.29 s.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// Nearest-rank percentiles, as in statistics.h. 0 where there is no length.
struct TypicalLengths {
  TimeNs p50 = 0, p99 = 0, max = 0;
};

class Durations {
 public:
  void add(TimeNs length) {
    sum_ += length;
    max_ = std::max(max_, length);
    if (length >= 0 && length <= std::numeric_limits<std::uint32_t>::max()) {
      usual_.push_back(static_cast<std::uint32_t>(length));
    } else {
      if (length < 0) ++negative_;
      others_.push_back(length);
    }
  }

  std::size_t size() const { return usual_.size() + others_.size(); }
  bool empty() const { return size() == 0; }
  TimeNs sum() const { return sum_; }
  TypicalLengths typical() const { return typical({this}); }
  /// Of all lengths of several, without a copy: looks at each length twice.
  static TypicalLengths typical(const std::vector<const Durations*>& parts);

 private:
  std::vector<std::uint32_t> usual_;
  std::vector<TimeNs> others_;  // negative ones, and those that are longer
  std::size_t negative_ = 0;
  TimeNs sum_ = 0, max_ = std::numeric_limits<TimeNs>::min();
};

}  // namespace wicprof::analyzer
