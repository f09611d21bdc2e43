#include "analyzer/communication/stream_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace wicprof::analyzer {
namespace {

// A move is a wrap if it leads from the upper part of the data to the lower one: from above 1/kUpperPart to below
// 1/kLowerPart of the covered range. bench_classification_made judges the answers.
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
  for (std::size_t begin = 0, end; begin < distances.size(); begin = end) {
    for (end = begin; end < distances.size() && distances[end] == distances[begin]; ++end) {
    }
    ++facts.distances;
    facts.usual_distance = std::max(facts.usual_distance, end - begin);
  }
}

/// Fewer messages show no direction, unless each of at least kShortestPass continues the one before.
constexpr std::size_t kLongPass = 6, kShortestPass = 3;
/// Blocks send all that lies between their ranges if together they cover this share of it.
constexpr double kCovered = 0.75;
/// A pass advances if the correlation of its places with their order reaches this; stretches that jump stay below the
/// second value. bench_classification_made judges the answers.
constexpr double kAdvances = 0.9, kNoDirection = 0.7;
/// Messages per stretch, and what makes a stretch jump: few ranges twice, many distances, few ranges next to each
/// other.
constexpr std::size_t kStretch = 48, kMinStretch = 12;
constexpr double kRepeatedInStretch = 0.3, kDistancesInStretch = 0.5, kContiguousInStretch = 0.25;
/// A stretch that jumps reaches over this share of what most places reach over: streams that several blocks send side
/// by side have little order from message to message, but stay close together. Most: without this share at either end.
constexpr double kReachOfStretch = 0.5, kFarPlaces = 0.05;

/// Pearson's correlation of offsets with their order.
double correlation(const std::vector<Access>& accesses, std::span<const std::uint32_t> members) {
  const auto n = static_cast<double>(members.size());
  double sum = 0, squares = 0, products = 0;
  const auto first = static_cast<double>(accesses[members.front()].place.offset);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const double x = static_cast<double>(accesses[members[k]].place.offset) - first;
    sum += x;
    squares += x * x;
    products += x * static_cast<double>(k);
  }
  const double mean_order = (n - 1) / 2, order_variance = (n * n - 1) / 12;
  const double variance = squares / n - sum / n * (sum / n);
  if (variance <= 0 || order_variance <= 0) return 0;
  return (products / n - sum / n * mean_order) / std::sqrt(variance * order_variance);
}

/// Whether each of at least three ranges continues the one before, all upwards or all downwards. `apart`: or all at one
/// distance, since other blocks send what lies between.
bool contiguous(const std::vector<Access>& accesses, std::span<const std::uint32_t> members, bool apart) {
  if (members.size() < kShortestPass) return false;
  bool up = true, down = true, even = apart;
  const std::uint64_t distance = accesses[members[1]].place.offset - accesses[members[0]].place.offset;
  for (std::size_t k = 1; k < members.size(); ++k) {
    const Place &before = accesses[members[k - 1]].place, &place = accesses[members[k]].place;
    up = up && place.offset == before.end();
    down = down && place.end() == before.offset;
    even = even && place.offset - before.offset == distance;
  }
  return up || down || even;
}

/// The share of what lies between the lowest and the highest range that the ranges cover.
double covered_share(const std::vector<Access>& accesses, std::span<const std::uint32_t> members) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const std::uint32_t i : members) ranges.emplace_back(accesses[i].place.offset, accesses[i].place.end());
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t covered = 0, reached = ranges.front().first;
  for (const auto& [begin, end] : ranges) {
    if (end > std::max(begin, reached)) covered += end - std::max(begin, reached);
    reached = std::max(reached, end);
  }
  const std::uint64_t reach = reached - ranges.front().first;
  return reach == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(reach);
}

/// Passes through the data. The bytes of all messages, of those in long passes, and of those in passes that advance.
struct Passes {
  double all = 0, in_long = 0, up = 0, down = 0;
  double long_share() const { return all == 0 ? 0 : in_long / all; }
  double advancing() const { return in_long == 0 ? 0 : std::max(up, down) / in_long; }
};

/// Adds the passes of `members`, which are in order of time. `apart`: as for contiguous().
void add_passes(const std::vector<Access>& accesses, std::span<const std::uint32_t> members, bool apart,
                Passes& passes) {
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (const std::uint32_t i : members) {
    lowest = std::min(lowest, accesses[i].place.offset);
    highest = std::max(highest, accesses[i].place.end());
  }
  const std::uint64_t reach = highest - lowest;
  const auto is_high = [&](const Place& place) { return place.offset - lowest >= reach / kUpperPart; };
  const auto is_low = [&](const Place& place) { return place.offset - lowest <= reach / kLowerPart; };
  const auto at_top = [&](const Place& place) { return highest - place.offset <= reach / kLowerPart; };
  std::set<decltype(range_key(Place()))> held;
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    double bytes = 0;
    for (std::size_t k = begin; k < end; ++k) bytes += accesses[members[k]].place.bytes;
    passes.all += bytes;
    const auto pass = members.subspan(begin, end - begin);
    if (pass.size() >= kLongPass || contiguous(accesses, pass, apart)) {
      passes.in_long += bytes;
      const double r = correlation(accesses, pass);
      if (r >= kAdvances) passes.up += bytes;
      if (r <= -kAdvances) passes.down += bytes;
    }
    held.clear();
    begin = end;
  };
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Place& place = accesses[members[k]].place;
    if (k > begin) {
      const Place& before = accesses[members[k - 1]].place;
      const bool to_bottom = is_high(before) && is_low(place), to_top = is_low(before) && at_top(place);
      if (to_bottom || to_top || held.contains(range_key(place))) close(k);
    }
    held.insert(range_key(place));
  }
  close(members.size());
}

/// Blocks that send at once drift apart: one begins its next pass before another one has ended its own. So each block's
/// passes count, if they go through the data and those of the whole stream do not. `members` in order of time.
void find_passes(const std::vector<Access>& accesses, std::span<const std::uint32_t> members, StreamFacts& facts) {
  Passes together, apart;
  add_passes(accesses, members, false, together);
  std::vector<std::uint32_t> by_source(members.begin(), members.end());
  const auto source_of = [&](std::uint32_t i) { return accesses[i].source; };
  std::stable_sort(by_source.begin(), by_source.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return source_of(a) < source_of(b); });
  const bool known = source_of(by_source.back()) != Access::kNobody;  // unknown sources are last
  if (known && source_of(by_source.front()) != source_of(by_source.back())) {
    const bool no_gaps = covered_share(accesses, members) >= kCovered;
    for (std::size_t begin = 0, end; begin < by_source.size(); begin = end) {
      for (end = begin + 1; end < by_source.size() && source_of(by_source[end]) == source_of(by_source[begin]); ++end) {
      }
      add_passes(accesses, std::span(by_source).subspan(begin, end - begin), no_gaps, apart);
    }
  }
  const auto in_order = [](const Passes& p) { return p.long_share() * p.advancing(); };
  const Passes& passes = in_order(apart) > in_order(together) ? apart : together;
  facts.long_passes = passes.long_share();
  facts.advancing = passes.advancing();
}

bool jumps(const std::vector<Access>& accesses, std::span<const std::uint32_t> members) {
  std::set<decltype(range_key(Place()))> ranges;
  std::set<std::int64_t> distances;
  std::size_t contiguous = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Place& place = accesses[members[k]].place;
    ranges.insert(range_key(place));
    if (k == 0) continue;
    const Place& before = accesses[members[k - 1]].place;
    distances.insert(static_cast<std::int64_t>(place.offset - before.offset));
    contiguous += place.offset == before.end() || place.end() == before.offset ? 1 : 0;
  }
  const auto n = static_cast<double>(members.size());
  return static_cast<double>(members.size() - ranges.size()) <= kRepeatedInStretch * n &&
         static_cast<double>(distances.size()) >= kDistancesInStretch * n &&
         static_cast<double>(contiguous) <= kContiguousInStretch * n &&
         std::abs(correlation(accesses, members)) < kNoDirection;
}

std::uint64_t reach_of(std::vector<std::uint64_t> offsets, double without) {
  std::sort(offsets.begin(), offsets.end());
  const auto left_out = static_cast<std::size_t>(without * static_cast<double>(offsets.size()));
  return offsets[offsets.size() - 1 - left_out] - offsets[left_out];
}

/// The share of the messages whose sources go through the data one way, each by itself, throughout the run.
double directed_share(const std::vector<Access>& accesses, std::span<const std::uint32_t> members) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_source;
  for (const std::uint32_t i : members) by_source[accesses[i].source].push_back(i);
  std::size_t directed = 0;
  for (const auto& [source, list] : by_source) {
    if (list.size() >= kMinStretch && std::abs(correlation(accesses, list)) >= kNoDirection) directed += list.size();
  }
  return static_cast<double>(directed) / static_cast<double>(members.size());
}

/// `members` in order of time.
void add_stretches(const std::vector<Access>& accesses, std::span<const std::uint32_t> members, StreamFacts& facts) {
  const auto reach = [&](std::span<const std::uint32_t> part, double without) {
    std::vector<std::uint64_t> offsets;
    for (const std::uint32_t i : part) offsets.push_back(accesses[i].place.offset);
    return static_cast<double>(reach_of(std::move(offsets), without));
  };
  std::size_t continuing = 0;
  for (std::size_t k = 1; k < members.size(); ++k) {
    const Place &before = accesses[members[k - 1]].place, &place = accesses[members[k]].place;
    continuing += place.offset == before.end() || place.end() == before.offset ? 1 : 0;
  }
  facts.continuing = static_cast<double>(continuing) / static_cast<double>(members.size());
  const double far = kReachOfStretch * reach(members, kFarPlaces);
  std::size_t jumping = 0;
  for (std::size_t begin = 0; begin < members.size(); begin += kStretch) {
    const auto part = members.subspan(begin, std::min(kStretch, members.size() - begin));
    if (part.size() >= kMinStretch && reach(part, 0) >= far && jumps(accesses, part)) jumping += part.size();
  }
  facts.jumping =
      static_cast<double>(jumping) / static_cast<double>(members.size()) * (1 - directed_share(accesses, members));
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
    std::vector<std::uint32_t> in_time(members.begin(), members.end());
    std::sort(in_time.begin(), in_time.end());
    find_passes(accesses, in_time, facts);
    add_stretches(accesses, in_time, facts);
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
    sum.usual_distance += s.usual_distance;
    sum.steps += s.steps;
    sum.contiguous_steps += s.contiguous_steps;
    sum.most_per_unit = std::max(sum.most_per_unit, s.most_per_unit);
    sum.repeated += s.repeated * s.bytes;
    sum.ever_repeated += s.ever_repeated * static_cast<double>(s.messages);
    sum.long_passes += s.long_passes * s.bytes;
    sum.advancing += s.advancing * s.long_passes * s.bytes;
    sum.jumping += s.jumping * static_cast<double>(s.messages);
    sum.continuing += s.continuing * static_cast<double>(s.messages);
    sum.bytes += s.bytes;
  }
  if (sum.long_passes > 0) sum.advancing /= sum.long_passes;
  sum.long_passes /= sum.bytes;
  sum.jumping /= static_cast<double>(sum.messages);
  sum.continuing /= static_cast<double>(sum.messages);
  sum.repeated /= sum.bytes;
  sum.ever_repeated /= static_cast<double>(sum.messages);
  return sum;
}

}  // namespace wicprof::analyzer
