#include "analyzer/ranks/clock_shift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

namespace {

/// Linux slews a clock by at most 500 ppm; of two clocks.
constexpr double kMostDrift = 1e-3;
/// Clocks may differ by so much more than the first call that they share shows.
constexpr double kFarthest = 3600e9;
/// From so many collectives on, their ends show the drift. Not calibrated.
constexpr std::size_t kShowDrift = 16;
/// Ends of collectives that differ by more than this share of the others are delayed by something else.
constexpr double kUsualPercent = 75, kTimesTheSpread = 3;
/// The rank that comes last leaves before those that waited, by a time that nothing in the calls shows. Calibrated with
/// three ranks of Open MPI on two CPUs, whose true shift was known: without it, shifts were off by up to 7 us, and in 3
/// of 40 jobs by more than their error.
constexpr double kUnseenLag = 20e3;
/// Bounds that no straight line fits are halved as long as each half has so many. Not calibrated.
constexpr std::size_t kFewestBounds = 8;

struct Range {
  double low, high;
  double middle() const { return (low + high) / 2; }
  double half() const { return (high - low) / 2; }
};

/// The straight lines that keep all bounds, by their values at the begin and at the end of a time.
class Lines {
 public:
  Lines(TimeNs from, TimeNs upto) : from_(from), length_(static_cast<double>(std::max<TimeNs>(upto - from, 1))) {
    const double drift = kMostDrift * length_ + 1;
    corners_ = {{-kFarthest, -kFarthest - drift},
                {kFarthest, kFarthest - drift},
                {kFarthest, kFarthest + drift},
                {-kFarthest, -kFarthest + drift}};
  }

  void keep(const ShiftBound& bound) {
    const double share = static_cast<double>(bound.at - from_) / length_;
    if (std::isfinite(bound.high)) cut(1 - share, share, bound.high + 1);
    if (std::isfinite(bound.low)) cut(share - 1, -share, 1 - bound.low);
  }
  bool any() const { return !corners_.empty(); }
  Range at_begin() const { return range(0); }
  Range at_end() const { return range(1); }

 private:
  using Corner = std::array<double, 2>;

  /// Keeps the lines with a x + b y <= limit.
  void cut(double a, double b, double limit) {
    std::vector<Corner> kept;
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Corner &here = corners_[i], &next = corners_[(i + 1) % corners_.size()];
      const double over = a * here[0] + b * here[1] - limit, over_next = a * next[0] + b * next[1] - limit;
      if (over <= 0) kept.push_back(here);
      if ((over < 0 && over_next > 0) || (over > 0 && over_next < 0)) {
        const double share = over / (over - over_next);
        kept.push_back({here[0] + share * (next[0] - here[0]), here[1] + share * (next[1] - here[1])});
      }
    }
    corners_ = std::move(kept);
  }
  Range range(std::size_t which) const {
    Range range{corners_[0][which], corners_[0][which]};
    for (const Corner& corner : corners_) {
      range.low = std::min(range.low, corner[which]);
      range.high = std::max(range.high, corner[which]);
    }
    return range;
  }

  TimeNs from_;
  double length_;
  std::vector<Corner> corners_;
};

double median_of(std::span<const SeemingShift> seeming, const auto& value_of) {
  std::vector<double> values;
  for (const SeemingShift& each : seeming) values.push_back(static_cast<double>(value_of(each)));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A shift that changes steadily, with what the bounds leave open at both ends.
struct Segment {
  TimeNs from, upto;
  Range begin, end;
};

/// Narrows the segment to what the collectives' ends show.
void narrow(Segment& segment, std::span<const SeemingShift> seeming) {
  if (seeming.empty()) return;
  const auto shift = [](const SeemingShift& each) { return each.shift; };
  const auto at = [](const SeemingShift& each) { return each.at; };
  double slope = 0, middle = median_of(seeming, shift), middle_at = median_of(seeming, at);
  const double length = static_cast<double>(segment.upto - segment.from);
  double error = kUnseenLag + median_of(seeming, [](const SeemingShift& each) { return each.shortest; });
  if (seeming.size() >= kShowDrift) {
    const auto first = seeming.first(seeming.size() / 2), second = seeming.subspan(seeming.size() / 2);
    const double apart = median_of(second, at) - median_of(first, at);
    if (apart > 0) slope = (median_of(second, shift) - median_of(first, shift)) / apart;
    slope = std::clamp(slope, -kMostDrift, kMostDrift);
    middle = (median_of(second, shift) + median_of(first, shift)) / 2;
    middle_at = (median_of(second, at) + median_of(first, at)) / 2;
  } else {
    error += kMostDrift * length / 2;
  }
  const auto line = [&](TimeNs time) { return middle + slope * (static_cast<double>(time) - middle_at); };
  std::vector<TimeNs> off;
  for (const SeemingShift& each : seeming) off.push_back(std::llround(std::abs(each.shift - line(each.at))));
  error += kTimesTheSpread * static_cast<double>(percentile_in_place(off, kUsualPercent));
  const auto both = [&](const Range& range, TimeNs time) {
    return Range{std::max(range.low, line(time) - error), std::min(range.high, line(time) + error)};
  };
  const Range begin = both(segment.begin, segment.from), end = both(segment.end, segment.upto);
  if (begin.low > begin.high || end.low > end.high) return;  // the ends contradict the bounds
  segment.begin = begin;
  segment.end = end;
}

/// Segments whose lines keep all bounds, as few as need be.
void fit(std::span<const ShiftBound> bounds, std::span<const SeemingShift> seeming, std::vector<Segment>& to) {
  Lines lines(bounds.front().at, bounds.back().at);
  for (const ShiftBound& bound : bounds) {
    lines.keep(bound);
    if (!lines.any()) break;
  }
  const std::size_t half = bounds.size() / 2;
  if (!lines.any() && half >= kFewestBounds) {
    const auto later = std::partition_point(seeming.begin(), seeming.end(),
                                            [&](const SeemingShift& each) { return each.at < bounds[half].at; });
    fit(bounds.first(half), {seeming.begin(), later}, to);
    fit(bounds.subspan(half), {later, seeming.end()}, to);
    return;
  }
  Segment segment{bounds.front().at, bounds.back().at, {}, {}};
  if (lines.any()) {
    segment.begin = lines.at_begin();
    segment.end = lines.at_end();
  } else {  // no shift fits: between those that would
    Range range{kFarthest, -kFarthest};
    for (const ShiftBound& bound : bounds) {
      if (std::isfinite(bound.high)) range.low = std::min(range.low, bound.high);
      if (std::isfinite(bound.low)) range.high = std::max(range.high, bound.low);
    }
    segment.begin = segment.end = range;
  }
  narrow(segment, seeming);
  to.push_back(segment);
}

}  // namespace

ClockShift shift_by(const ShiftEvidence& evidence, double base) {
  std::vector<Segment> segments;
  fit(evidence.bounds, evidence.seeming, segments);
  double error = 0, jump = 0;
  bool by_mpi = true;
  std::vector<ClockShift::Knot> knots;
  for (Segment& segment : segments) {
    for (Range* range : {&segment.begin, &segment.end}) {
      const double day = evidence.by_day.value_or(0), off = static_cast<double>(kSameBoot);
      if (range->half() > off) {
        by_mpi = false;
        if (evidence.by_day && day + off > range->low && day - off < range->high)
          *range = {std::max(range->low, day - off), std::min(range->high, day + off)};
      }
      error = std::max(error, range->half());
    }
    const auto shift = [&](const Range& range) { return std::llround(base + range.middle()); };
    if (!knots.empty()) jump = std::max(jump, static_cast<double>(std::abs(shift(segment.begin) - knots.back().shift)));
    knots.push_back({segment.from, shift(segment.begin)});
    knots.push_back({segment.upto, shift(segment.end)});
  }
  return {std::move(knots), std::llround(error + jump / 2) + 1, by_mpi};
}

ClockShift::ClockShift(std::vector<Knot> knots, TimeNs error, bool by_mpi)
    : knots_(std::move(knots)), error_(error), by_mpi_(by_mpi) {
  for (std::size_t i = 1; i < knots_.size(); ++i) {
    knots_[i].shift = std::max(knots_[i].shift, knots_[i - 1].shift - (knots_[i].at - knots_[i - 1].at));
  }
}

TimeNs ClockShift::at(TimeNs time) const {
  if (knots_.empty()) return 0;
  const auto next =
      std::partition_point(knots_.begin(), knots_.end(), [&](const Knot& knot) { return knot.at <= time; });
  if (next == knots_.begin()) return next->shift;
  const Knot& before = *std::prev(next);
  if (next == knots_.end()) return before.shift;
  const double share = static_cast<double>(time - before.at) / static_cast<double>(next->at - before.at);
  return before.shift + std::llround(share * static_cast<double>(next->shift - before.shift));
}

}  // namespace wicprof::analyzer
