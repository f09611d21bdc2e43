#include "reports/html/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace wicprof::reports::html {

namespace {

constexpr std::size_t kMaxPairs = 8'000;  // evenly spread; beside them those that are seen from near

}  // namespace

Alignment::Alignment(const AlignedTrace& first, const AlignedTrace& second)
    : first_(first.whole), second_(second.whole) {
  const std::size_t count = std::min(first.iterations.size(), second.iterations.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Iteration& one = first.iterations[i];
    const Iteration& other = second.iterations[i];
    // The first iteration of a later kernel run may begin before this one's last ends. Times must increase in both.
    if (!pairs_.empty() && (one.begin <= pairs_.back().first || other.begin <= pairs_.back().second)) continue;
    pairs_.push_back({one.begin, other.begin, one.number, other.number});
  }
  if (pairs_.empty()) {
    pairs_.push_back({first_.begin, second_.begin, 0, 0});
    return;
  }
  const Iteration& one = first.iterations[count - 1];
  const Iteration& other = second.iterations[count - 1];
  if (one.end > pairs_.back().first && other.end > pairs_.back().second)
    pairs_.push_back({one.end, other.end, one.number + 1, other.number + 1});
}

TimeNs Alignment::partner(TimeNs time, TimeNs Pair::*of, TimeNs Pair::*in) const {
  const auto after =
      std::upper_bound(pairs_.begin(), pairs_.end(), time, [&](TimeNs t, const Pair& pair) { return t < pair.*of; });
  if (after == pairs_.begin()) return pairs_.front().*in - (pairs_.front().*of - time);
  const Pair& last = *std::prev(after);
  if (after == pairs_.end()) return last.*in + (time - last.*of);
  const double part = static_cast<double>(time - last.*of) / static_cast<double>((*after).*of - last.*of);
  return last.*in + static_cast<TimeNs>(part * static_cast<double>((*after).*in - last.*in));
}

Interval Alignment::whole_of_first() const {
  const TimeNs lead = std::max(pairs_.front().first - first_.begin, pairs_.front().second - second_.begin);
  const TimeNs rest = std::max(first_.end - pairs_.front().first, second_.end - pairs_.front().second);
  return {pairs_.front().first - lead, pairs_.front().first + rest};
}

Interval Alignment::whole_of_second() const {
  const Interval whole = whole_of_first();
  const TimeNs by = pairs_.front().second - pairs_.front().first;
  return {whole.begin + by, whole.end + by};
}

std::string Alignment::json(const std::vector<Interval>& fine) const {
  const std::size_t each = pairs_.size() / kMaxPairs + 1;
  const auto near = [&](std::size_t i) {
    const TimeNs begin = pairs_[i].second, end = i + 1 < pairs_.size() ? pairs_[i + 1].second : begin;
    return std::any_of(fine.begin(), fine.end(),
                       [&](const Interval& one) { return end >= one.begin && begin <= one.end; });
  };
  std::string out = "[";
  Pair last{first_.begin, second_.begin, 0, 0};
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (i % each != 0 && i + 1 != pairs_.size() && !near(i) && !(i > 0 && near(i - 1))) continue;
    const Pair& pair = pairs_[i];
    fmt::format_to(std::back_inserter(out), "{}{},{},{},{}", out.size() > 1 ? "," : "",
                   static_cast<std::int64_t>(pair.first_number) - last.first_number, pair.first - last.first,
                   static_cast<std::int64_t>(pair.second_number) - last.second_number, pair.second - last.second);
    last = pair;
  }
  return out + "]";
}

std::vector<Interval> merged(std::vector<Interval> stretches, Interval whole) {
  std::sort(stretches.begin(), stretches.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> list;
  for (Interval one : stretches) {
    one = {std::max(one.begin, whole.begin), std::min(one.end, whole.end)};
    if (one.end <= one.begin) continue;
    if (!list.empty() && one.begin <= list.back().end) {
      list.back().end = std::max(list.back().end, one.end);
    } else {
      list.push_back(one);
    }
  }
  return list;
}

}  // namespace wicprof::reports::html
