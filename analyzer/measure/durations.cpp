#include "analyzer/measure/durations.h"

#include <algorithm>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

namespace {

/// The value at place `rank` of all sorted values: counts their upper halves, and then the lower halves of those that
/// have the upper half of the wanted one. `for_each(visit)` shows the values.
std::uint32_t nth(const auto& for_each, std::size_t rank) {
  constexpr std::uint32_t kBits = 16, kLow = (1u << kBits) - 1;
  std::vector<std::size_t> count(kLow + 1);
  const auto find = [&] {
    std::uint32_t half = 0;
    while (rank >= count[half]) rank -= count[half++];
    return half;
  };
  for_each([&](std::uint32_t value) { ++count[value >> kBits]; });
  const std::uint32_t high = find();
  std::fill(count.begin(), count.end(), 0);
  for_each([&](std::uint32_t value) {
    if (value >> kBits == high) ++count[value & kLow];
  });
  return (high << kBits) | find();
}

}  // namespace

TimeNs Durations::percentile(const std::vector<const Durations*>& parts, double percent) {
  std::size_t usual = 0, negative = 0;
  std::vector<TimeNs> values;
  for (const Durations* part : parts) {
    usual += part->usual_.size();
    negative += part->negative_;
    values.insert(values.end(), part->others_.begin(), part->others_.end());
  }
  if (usual + values.size() == 0) return 0;
  std::size_t rank = rank_of(percent, usual + values.size());
  if (rank >= negative && rank < negative + usual) {
    rank -= negative;
    const auto for_each = [&](const auto& visit) {
      for (const Durations* part : parts) std::for_each(part->usual_.begin(), part->usual_.end(), visit);
    };
    constexpr std::size_t kFew = 10'000;  // counting takes at least the time to look at all counters
    if (usual > kFew) return nth(for_each, rank);
    values.clear();
    for_each([&](std::uint32_t value) { values.push_back(value); });
  } else if (rank >= negative) {
    rank -= usual;
  }
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace wicprof::analyzer
