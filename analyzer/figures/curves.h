// Curves over the progress of polling, averaged over iterations.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/figures/figure.h"

namespace wicprof::analyzer {

/// Progress 0, 5, ... 100 %.
inline constexpr std::size_t kCurvePoints = 21;

/// The progress, from 0 to 1, of a time within an iteration's polling: from its first arrival to its last resumption.
inline double progress_at(const IterationSlot& slot, TimeNs time) {
  const auto length = static_cast<double>(slot.last_resumption - slot.first_arrival);
  if (length <= 0) return 1;
  const double progress = static_cast<double>(time - slot.first_arrival) / length;
  return progress < 0 ? 0 : progress > 1 ? 1 : progress;
}

/// The number of events still to come, as a mean over iterations with equal weights. Progress is from 0 to 1.
class Curve {
 public:
  /// An event at `progress`. `weight` is 1 over the number of events in its iteration.
  void add(double progress, double weight) {
    auto points = static_cast<std::size_t>(progress * (kCurvePoints - 1));  // before the event
    while (points < kCurvePoints && point(points) < progress) ++points;
    while (points > 0 && point(points - 1) >= progress) --points;
    events_[points] += weight;
  }
  void add_iteration() { ++iterations_; }
  double at(std::size_t i) const {
    return iterations_ > 0
               ? std::accumulate(events_.begin() + static_cast<std::ptrdiff_t>(i) + 1, events_.end(), 0.0) / iterations_
               : 0;
  }
  double iterations() const { return iterations_; }
  static double point(std::size_t i) { return static_cast<double>(i) / (kCurvePoints - 1); }

 private:
  std::array<double, kCurvePoints + 1> events_{};  // by the number of points before them
  double iterations_ = 0;
};

using Curves = std::map<std::pair<SiteId, Mode>, Curve>;

/// A curve per site and mode: the waits of which `time`, of the arrival or the resumption, is still to come. Of
/// iterations of kernels with at least two waiters.
template <TimeNs store::WaitRow::*time>
Curves curves_of(const FigureTrace& trace) {
  Curves curves;
  const auto& slots = trace.waiters->slots();
  std::vector<Curve*> curve_of(slots.size());  // by slot; nullptr: its waits do not count
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].waits < 2 || slots[i].device == kHostDevice) continue;
    curve_of[i] = &curves[{slots[i].site, mode_of(trace, slots[i])}];
    curve_of[i]->add_iteration();
  }
  for (std::size_t i = 0; i < trace.model.waits.size(); ++i) {
    const std::uint32_t number = trace.waiters->slot_of_wait(i);
    const IterationSlot& slot = slots[number];
    if (curve_of[number] != nullptr)
      curve_of[number]->add(progress_at(slot, trace.model.waits[i].*time), 1.0 / slot.waits);
  }
  return curves;
}

/// One row per point: trace, mode, site, progress, value.
inline void add_curves(Figure& figure, const FigureTrace& trace, const Curves& curves, const auto& value) {
  for (const auto& [key, curve] : curves) {
    for (std::size_t i = 0; i < kCurvePoints; ++i) {
      std::vector<FigureCell> row = row_head(trace, key.second, key.first);
      row.push_back(Curve::point(i));
      row.push_back(value(key, curve, i));
      figure.rows.push_back(std::move(row));
    }
  }
}

inline void describe_curves(Figure& figure, const char* column) {
  figure.columns = {"trace", "mode", "site", "progress", column};
  figure.plot = Figure::Plot::lines;
  figure.series = 2;
  figure.x = 3;
  figure.y = 4;
  figure.shares = true;
}

}  // namespace wicprof::analyzer
