// Very many lengths of time, and their percentiles. Holds four bytes for a length from 0 to 4.29 s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

class Durations {
 public:
  void add(TimeNs length) {
    sum_ += length;
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
  /// The nearest-rank percentile, as in statistics.h.
  TimeNs percentile(double percent) const { return percentile({this}, percent); }
  /// Of all lengths of several, without a copy.
  static TimeNs percentile(const std::vector<const Durations*>& parts, double percent);

 private:
  std::vector<std::uint32_t> usual_;
  std::vector<TimeNs> others_;  // negative ones, and those that are longer
  std::size_t negative_ = 0;
  TimeNs sum_ = 0;
};

}  // namespace wicprof::analyzer
