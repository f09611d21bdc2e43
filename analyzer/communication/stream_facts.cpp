#include "analyzer/communication/stream_facts.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace wicprof::analyzer {
namespace {

// A move is a wrap if it leads from the upper part of the data to the lower one: from above 1/kUpperPart to below
// 1/kLowerPart of the covered range. Not calibrated.
constexpr std::uint64_t kUpperPart = 2, kLowerPart = 4;

/// `members`: indexes of one stream's accesses, by iteration and then by time.
void add_moves(const std::vector<Access>& accesses, std::span<const std::uint32_t> members, StreamFacts& facts) {
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (const std::uint32_t i : members) {
    lowest = std::min(lowest, accesses[i].place.offset);
    highest = std::max(highest, accesses[i].place.end());
  }
  const std::uint64_t reach = highest - lowest;
  std::uint64_t low = 0, high = 0;
  bool any = false;
  std::vector<std::int64_t> distances;
  for (std::size_t begin = 0, end; begin < members.size(); begin = end) {
    std::uint64_t next_low = ~std::uint64_t{0}, next_high = 0;
    for (end = begin; end < members.size() && accesses[members[end]].unit == accesses[members[begin]].unit; ++end) {
      const Place& place = accesses[members[end]].place;
      next_low = std::min(next_low, place.offset);
      next_high = std::max(next_high, place.end());
      if (end == begin) continue;
      ++facts.steps;
      if (place.offset == accesses[members[end - 1]].place.end()) ++facts.contiguous_steps;
    }
    facts.most_per_unit = std::max(facts.most_per_unit, end - begin);
    if (any && (next_low != low || next_high != high)) {
      ++facts.moves;
      if (next_low == high) ++facts.contiguous;
      if (next_low > low) ++facts.up;
      if (next_low < low) ++facts.down;
      const bool from_top = low - lowest >= reach / kUpperPart, to_bottom = next_low - lowest <= reach / kLowerPart;
      if (next_low < low && from_top && to_bottom) ++facts.wraps;
      distances.push_back(static_cast<std::int64_t>(next_low - low));
    }
    low = next_low;
    high = next_high;
    any = true;
  }
  std::sort(distances.begin(), distances.end());
  facts.distances = static_cast<std::size_t>(std::unique(distances.begin(), distances.end()) - distances.begin());
}

/// Sorts `members` by range.
void add_repetitions(const std::vector<Access>& accesses, std::span<std::uint32_t> members, StreamFacts& facts) {
  std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Access &x = accesses[a], &y = accesses[b];
    return std::tuple_cat(range_key(x.place), std::tuple(x.unit)) <
           std::tuple_cat(range_key(y.place), std::tuple(y.unit));
  });
  std::uint32_t first_unit = ~0u;
  for (const std::uint32_t i : members) first_unit = std::min(first_unit, accesses[i].unit);
  std::size_t repeated = 0, ever = 0, later = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Access& access = accesses[members[k]];
    if (access.unit != first_unit) ++later;
    if (k == 0 || range_key(accesses[members[k - 1]].place) != range_key(access.place)) {
      ++facts.ranges;
      continue;
    }
    ++ever;
    if (access.unit - accesses[members[k - 1]].unit == 1) ++repeated;
  }
  facts.repeated = later == 0 ? 0 : static_cast<double>(repeated) / static_cast<double>(later);
  facts.ever_repeated = static_cast<double>(ever) / static_cast<double>(members.size());
}

}  // namespace

std::vector<StreamFacts> stream_facts(const std::vector<Access>& accesses) {
  std::vector<std::uint32_t> order(accesses.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(accesses[a].stream, accesses[a].unit) < std::tie(accesses[b].stream, accesses[b].unit);
  });
  std::vector<StreamFacts> all;
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    const std::uint32_t stream = accesses[order[begin]].stream;
    for (end = begin + 1; end < order.size() && accesses[order[end]].stream == stream; ++end) {
    }
    const auto members = std::span(order).subspan(begin, end - begin);
    StreamFacts facts;
    facts.messages = members.size();
    for (const std::uint32_t i : members) facts.bytes += accesses[i].place.bytes;
    add_moves(accesses, members, facts);
    add_repetitions(accesses, members, facts);
    all.push_back(facts);
  }
  return all;
}

StreamFacts total(const std::vector<StreamFacts>& streams) {
  StreamFacts sum;
  for (const StreamFacts& s : streams) {
    sum.messages += s.messages;
    sum.ranges += s.ranges;
    sum.moves += s.moves;
    sum.up += s.up;
    sum.down += s.down;
    sum.wraps += s.wraps;
    sum.contiguous += s.contiguous;
    sum.distances += s.distances;
    sum.steps += s.steps;
    sum.contiguous_steps += s.contiguous_steps;
    sum.most_per_unit = std::max(sum.most_per_unit, s.most_per_unit);
    sum.repeated += s.repeated * s.bytes;
    sum.ever_repeated += s.ever_repeated * static_cast<double>(s.messages);
    sum.bytes += s.bytes;
  }
  sum.repeated /= sum.bytes;
  sum.ever_repeated /= static_cast<double>(sum.messages);
  return sum;
}

}  // namespace wicprof::analyzer
