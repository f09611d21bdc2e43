// Percentiles of many sets of waits at once: all lengths are sorted once, and a walk passes each to its sets.
#pragma once

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/measure/durations.h"
#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

/// Lengths of time with the group of their waits. Holds eight bytes for a length from 0 to 4.29 s.
class GroupedLengths {
 public:
  void reserve(std::size_t lengths) { usual_.reserve(lengths); }
  void add(TimeNs length, std::uint32_t group) {
    if (length >= 0 && length <= std::numeric_limits<std::uint32_t>::max()) {
      usual_.push_back((static_cast<std::uint64_t>(length) << 32) | group);
    } else {
      others_.emplace_back(length, group);
    }
  }
  void sort() {
    boost::sort::spreadsort::integer_sort(usual_.begin(), usual_.end());
    std::sort(others_.begin(), others_.end());
  }
  /// Calls visit(length, group) from the shortest length to the longest one; after sort().
  void for_each(const auto& visit) const {
    auto other = others_.begin();
    for (; other != others_.end() && other->first < 0; ++other) visit(other->first, other->second);
    for (const std::uint64_t each : usual_) visit(static_cast<TimeNs>(each >> 32), static_cast<std::uint32_t>(each));
    for (; other != others_.end(); ++other) visit(other->first, other->second);
  }

 private:
  std::vector<std::uint64_t> usual_;
  std::vector<std::pair<TimeNs, std::uint32_t>> others_;  // negative ones, and those that are longer
};

/// Finds the median and the 99th percentile among lengths that come in order.
class OrderedPercentiles {
 public:
  explicit OrderedPercentiles(std::uint64_t count) : p50_(rank_of(50, count)), p99_(rank_of(99, count)) {}
  void pass(TimeNs length) {
    if (seen_ == p50_) found_.p50 = length;
    if (seen_ == p99_) found_.p99 = length;
    ++seen_;
    found_.max = length;
  }
  const TypicalLengths& found() const { return found_; }

 private:
  std::uint64_t p50_, p99_, seen_ = 0;
  TypicalLengths found_;
};

}  // namespace wicprof::analyzer
