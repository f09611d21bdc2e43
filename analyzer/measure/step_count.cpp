#include "analyzer/measure/step_count.h"

#include <algorithm>
#include <array>

namespace wicprof::analyzer {

namespace {

/// Insertion sort. False: stopped because it took too many moves; the times are then partly sorted.
bool insert_nearby(std::vector<TimeNs>& times) {
  std::size_t moves = 0;
  constexpr std::size_t kMovesPerTime = 8;  // beyond that, sort_times() sorts from scratch; not calibrated
  const std::size_t max_moves = kMovesPerTime * times.size();
  for (std::size_t i = 1; i < times.size(); ++i) {
    const TimeNs time = times[i];
    std::size_t to = i;
    for (; to > 0 && time < times[to - 1]; --to) times[to] = times[to - 1];
    times[to] = time;
    moves += i - to;
    if (moves > max_moves) return false;
  }
  return true;
}

}  // namespace

void sort_times(std::vector<TimeNs>& times) {
  constexpr std::size_t kMinForRadixSort = 1 << 14;  // not calibrated
  if (insert_nearby(times)) return;
  if (times.size() < kMinForRadixSort) {
    std::sort(times.begin(), times.end());
    return;
  }
  // Radix sort by 11 bits at a time, lowest bits first; covers as many bits as the range of times has.
  constexpr int kBits = 11;
  constexpr std::uint64_t kMask = (1u << kBits) - 1;
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  const TimeNs base = *least;
  const auto range = static_cast<std::uint64_t>(*most - base);
  std::vector<TimeNs> other(times.size());
  for (int shift = 0; shift < 64 && (range >> shift) != 0; shift += kBits) {
    std::array<std::size_t, kMask + 2> place{};
    for (const TimeNs time : times) ++place[((static_cast<std::uint64_t>(time - base) >> shift) & kMask) + 1];
    for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
    for (const TimeNs time : times) other[place[(static_cast<std::uint64_t>(time - base) >> shift) & kMask]++] = time;
    times.swap(other);
  }
}

StepCount::StepCount(const std::vector<Interval>& intervals) {
  constexpr std::size_t kMaxExact = 1 << 20;
  if (intervals.size() > kMaxExact) {
    build_rounded(intervals);
  } else {
    build_sorted(intervals);
  }
}

void StepCount::step(TimeNs time, std::int32_t change) {
  Sums before;
  std::int32_t now = 0;
  if (!at_.empty()) {
    now = count_.back();
    const auto length = static_cast<double>(time - at_.back());
    before = {before_.back().count_ns + length * now, before_.back().any_ns + (now > 0 ? length : 0)};
  }
  now += change;
  at_.push_back(time);
  count_.push_back(now);
  before_.push_back(before);
  max_ = std::max(max_, static_cast<std::uint32_t>(std::max(now, 0)));
}

void StepCount::reserve(std::size_t steps) {
  at_.reserve(steps);
  count_.reserve(steps);
  before_.reserve(steps);
}

void StepCount::build_sorted(const std::vector<Interval>& intervals) {
  std::vector<TimeNs> begins, ends;
  begins.reserve(intervals.size());
  ends.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.begin) continue;
    begins.push_back(interval.begin);
    ends.push_back(interval.end);
  }
  sort_times(begins);
  sort_times(ends);
  reserve(2 * begins.size());
  std::size_t b = 0;
  for (std::size_t e = 0; e < ends.size();) {
    const TimeNs time = b < begins.size() ? std::min(begins[b], ends[e]) : ends[e];
    std::int32_t change = 0;
    while (b < begins.size() && begins[b] == time) ++b, ++change;
    while (e < ends.size() && ends[e] == time) ++e, --change;
    if (change != 0) step(time, change);
  }
}

void StepCount::build_rounded(const std::vector<Interval>& intervals) {
  constexpr TimeNs kCells = 1 << 22;
  TimeNs first = intervals.front().begin, last = intervals.front().end;
  for (const Interval& interval : intervals) {
    first = std::min(first, interval.begin);
    last = std::max(last, interval.end);
  }
  const TimeNs cell = std::max<TimeNs>(1, (last - first) / kCells + 1);
  std::vector<std::int32_t> change(static_cast<std::size_t>((last - first) / cell) + 2, 0);
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.begin) continue;
    ++change[static_cast<std::size_t>((interval.begin - first) / cell)];
    --change[static_cast<std::size_t>((interval.end - first) / cell)];
  }
  reserve(change.size() - static_cast<std::size_t>(std::count(change.begin(), change.end(), 0)));
  for (std::size_t i = 0; i < change.size(); ++i) {
    if (change[i] != 0) step(first + static_cast<TimeNs>(i) * cell, change[i]);
  }
}

std::int64_t StepCount::at(TimeNs time) const {
  const auto after = std::upper_bound(at_.begin(), at_.end(), time);
  return after == at_.begin() ? 0 : count_[static_cast<std::size_t>(after - at_.begin()) - 1];
}

StepCount::Sums StepCount::sum_until(TimeNs time) const {
  return sum_until(time, static_cast<std::size_t>(std::upper_bound(at_.begin(), at_.end(), time) - at_.begin()));
}

StepCount::Sums StepCount::sum_until(TimeNs time, std::size_t after) const {
  if (after == 0) return {};
  const std::size_t i = after - 1;
  const auto length = static_cast<double>(time - at_[i]);
  return {before_[i].count_ns + length * count_[i], before_[i].any_ns + (count_[i] > 0 ? length : 0)};
}

namespace {

/// The index of the first time later than `time`, at or after index `at`. Galloping search: fast for near results.
std::size_t first_after(const std::vector<TimeNs>& times, std::size_t at, TimeNs time) {
  std::size_t low = at, stride = 1;
  while (low < times.size() && times[low] <= time) {
    at = low + 1;
    low += stride;
    stride *= 2;
  }
  const auto begin = times.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(std::min(low, times.size()));
  return static_cast<std::size_t>(std::upper_bound(begin, end, time) - times.begin());
}

}  // namespace

StepCount::CoveredCount StepCount::count_ns_while(const StepCount& a, const StepCount& b) const {
  const StepCount* others[] = {&a, &b};
  std::size_t next[] = {0, 0};
  CoveredCount sum;
  for (std::size_t i = 0; i + 1 < at_.size(); ++i) {
    if (count_[i] == 0) continue;
    TimeNs from = at_[i];
    while (from < at_[i + 1]) {
      TimeNs until = at_[i + 1];
      bool any[] = {false, false};
      for (const int o : {0, 1}) {
        if (any[0]) continue;  // `either` counts this time already
        const StepCount& other = *others[o];
        std::size_t& n = next[o];
        n = first_after(other.at_, n, from);
        any[o] = n > 0 && other.count_[n - 1] > 0;
        if (n < other.at_.size()) until = std::min(until, other.at_[n]);
      }
      const double part = static_cast<double>(until - from) * count_[i];
      if (any[0]) sum.first += part;
      if (any[0] || any[1]) sum.either += part;
      from = until;
    }
  }
  return sum;
}

double StepCount::mean(TimeNs begin, TimeNs end) const {
  if (end <= begin) return 0;
  return (sum_until(end).count_ns - sum_until(begin).count_ns) / static_cast<double>(end - begin);
}

double StepCount::covered(TimeNs begin, TimeNs end) const {
  if (end <= begin) return 0;
  return (sum_until(end).any_ns - sum_until(begin).any_ns) / static_cast<double>(end - begin);
}

double StepCount::Cursor::covered(TimeNs begin, TimeNs end) {
  if (end <= begin) return 0;
  // A query that begins before the last one searches from the start.
  after_ = first_after(of_.at_, begin < last_ ? 0 : after_, begin);
  last_ = begin;
  const Sums from = of_.sum_until(begin, after_), to = of_.sum_until(end, first_after(of_.at_, after_, end));
  return (to.any_ns - from.any_ns) / static_cast<double>(end - begin);
}

}  // namespace wicprof::analyzer
