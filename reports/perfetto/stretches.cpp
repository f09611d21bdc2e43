#include "reports/perfetto/stretches.h"

#include <algorithm>
#include <cmath>

namespace wicprof::reports {

namespace {

/// At most this part of the kept stretches is near marks, so that the rest of the run is not lost for many marks.
constexpr double kNearMarks = 0.5;

/// Keeps `wanted` more stretches, at equal distances among those that are not kept.
void keep_evenly(std::vector<bool>& kept, std::size_t wanted) {
  const std::size_t free = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), false));
  wanted = std::min(wanted, free);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) continue;
    if ((seen + 1) * wanted / free > seen * wanted / free) kept[i] = true;
    ++seen;
  }
}

}  // namespace

Stretches::Stretches(std::vector<TimeNs> begins, const std::vector<TimeNs>& marks, double part) {
  if (begins.empty() || part >= 1) return;
  std::sort(begins.begin(), begins.end());
  // The first row of each stretch. Rows that begin at the same time share a stretch.
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < kMost; ++i) {
    const std::size_t at = i * begins.size() / kMost;
    if (first.empty() || begins[at] > begins[first.back()])
      first.push_back(
          static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), begins[at]) - begins.begin()));
  }
  const std::size_t count = first.size();
  const auto wanted = static_cast<std::size_t>(std::max(1.0, std::floor(part * static_cast<double>(count))));
  std::vector<bool> kept(count, false);
  std::size_t near = 0;
  for (const TimeNs mark : marks) {
    const auto after = std::upper_bound(first.begin(), first.end(), mark,
                                        [&](TimeNs time, std::size_t row) { return time < begins[row]; });
    const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - first.begin() - 1, 0));
    for (const std::size_t which : {at, at + 1}) {
      if (which >= count || kept[which] || static_cast<double>(near) >= kNearMarks * static_cast<double>(wanted))
        continue;
      kept[which] = true;
      ++near;
    }
  }
  keep_evenly(kept, wanted - std::min(wanted, near));
  for (std::size_t i = 0; i < count; ++i) {
    if (kept[i]) continue;
    const std::size_t next = i + 1 < count ? first[i + 1] : begins.size();
    const TimeNs end = next < begins.size() ? begins[next] : begins.back() + 1;
    if (!left_out_.empty() && left_out_.back().end == begins[first[i]]) {
      left_out_.back().end = end;
      left_out_.back().rows += next - first[i];
    } else {
      left_out_.push_back({begins[first[i]], end, next - first[i]});
    }
  }
}

bool Stretches::keeps(TimeNs begin) const {
  const auto after = std::upper_bound(left_out_.begin(), left_out_.end(), begin,
                                      [](TimeNs time, const LeftOut& gap) { return time < gap.begin; });
  return after == left_out_.begin() || begin >= std::prev(after)->end;
}

}  // namespace wicprof::reports
