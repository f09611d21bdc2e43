#include "analyzer/measure/durations.h"

#include <algorithm>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

void Durations::add(const Durations& other) {
  usual_.insert(usual_.end(), other.usual_.begin(), other.usual_.end());
  others_.insert(others_.end(), other.others_.begin(), other.others_.end());
  negative_ += other.negative_;
  sum_ += other.sum_;
}

namespace {

/// The value at place `rank` of the sorted values: counts their upper halves, and then the lower halves of those that
/// have the upper half of the wanted one.
std::uint32_t nth(const std::vector<std::uint32_t>& values, std::size_t rank) {
  constexpr std::uint32_t kBits = 16, kLow = (1u << kBits) - 1;
  std::vector<std::size_t> count(kLow + 1);
  const auto find = [&] {
    std::uint32_t half = 0;
    while (rank >= count[half]) rank -= count[half++];
    return half;
  };
  for (const std::uint32_t value : values) ++count[value >> kBits];
  const std::uint32_t high = find();
  std::fill(count.begin(), count.end(), 0);
  for (const std::uint32_t value : values) {
    if (value >> kBits == high) ++count[value & kLow];
  }
  return (high << kBits) | find();
}

}  // namespace

TimeNs Durations::percentile(double percent) const {
  if (empty()) return 0;
  const std::size_t rank = rank_of(percent, size());
  if (rank >= negative_ && rank < negative_ + usual_.size()) {
    constexpr std::size_t kFew = 10'000;  // counting takes at least the time to look at all counters
    if (usual_.size() > kFew) return nth(usual_, rank - negative_);
    std::vector<std::uint32_t> values = usual_;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - negative_);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  }
  std::vector<TimeNs> values = others_;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank < negative_ ? rank : rank - usual_.size());
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace wicprof::analyzer
