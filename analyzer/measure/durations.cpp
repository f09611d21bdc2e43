#include "analyzer/measure/durations.h"

#include <array>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

namespace {

constexpr std::array kPercents = {50.0, 99.0};
using Ranks = std::array<std::size_t, kPercents.size()>;
using Values = std::array<TimeNs, kPercents.size()>;

/// The values at some places of all sorted values: counts their upper halves, and then the lower halves of those that
/// have the upper half of a wanted one. `for_each(visit)` shows the values.
Values nth(const auto& for_each, Ranks ranks) {
  constexpr std::uint32_t kBits = 16, kLow = (1u << kBits) - 1;
  std::array<std::uint32_t, kPercents.size()> high{};
  const auto find = [](const std::vector<std::size_t>& count, std::size_t& rank) {
    std::uint32_t half = 0;
    while (rank >= count[half]) rank -= count[half++];
    return half;
  };
  {
    std::vector<std::size_t> count(kLow + 1);
    for_each([&](std::uint32_t value) { ++count[value >> kBits]; });
    for (std::size_t i = 0; i < ranks.size(); ++i) high[i] = find(count, ranks[i]);
  }
  std::array<std::vector<std::size_t>, kPercents.size()> counts;
  for (auto& count : counts) count.resize(kLow + 1);
  for_each([&](std::uint32_t value) {
    for (std::size_t i = 0; i < ranks.size(); ++i) counts[i][value & kLow] += value >> kBits == high[i] ? 1 : 0;
  });
  Values found{};
  for (std::size_t i = 0; i < ranks.size(); ++i) found[i] = (TimeNs{high[i]} << kBits) | find(counts[i], ranks[i]);
  return found;
}

}  // namespace

TypicalLengths Durations::typical(const std::vector<const Durations*>& parts) {
  std::size_t usual = 0, negative = 0;
  std::vector<TimeNs> others;
  TypicalLengths found;
  found.max = std::numeric_limits<TimeNs>::min();
  for (const Durations* part : parts) {
    usual += part->usual_.size();
    negative += part->negative_;
    others.insert(others.end(), part->others_.begin(), part->others_.end());
    found.max = std::max(found.max, part->max_);
  }
  const std::size_t all = usual + others.size();
  if (all == 0) return {};
  std::sort(others.begin(), others.end());
  const auto for_each = [&](const auto& visit) {
    for (const Durations* part : parts) std::for_each(part->usual_.begin(), part->usual_.end(), visit);
  };
  // Sorted: the negative ones, the usual ones, and the longer ones.
  Ranks ranks{}, places{};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = rank_of(kPercents[i], all);
    places[i] = std::clamp(ranks[i], negative, negative + std::max<std::size_t>(usual, 1) - 1) - negative;
  }
  Values values{};
  constexpr std::size_t kFew = 10'000;  // counting takes at least the time to look at all counters
  if (usual > kFew) {
    values = nth(for_each, places);
  } else if (usual > 0) {
    std::vector<std::uint32_t> few;
    few.reserve(usual);
    for_each([&](std::uint32_t value) { few.push_back(value); });
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto at = few.begin() + static_cast<std::ptrdiff_t>(places[i]);
      std::nth_element(few.begin(), at, few.end());
      values[i] = *at;
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < negative) values[i] = others[ranks[i]];
    if (ranks[i] >= negative + usual) values[i] = others[ranks[i] - usual];
  }
  found.p50 = values[0];
  found.p99 = values[1];
  return found;
}

}  // namespace wicprof::analyzer
