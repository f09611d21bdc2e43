#include "gui/view/iteration_strip.h"

#include <algorithm>
#include <cmath>

#include "analyzer/measure/statistics.h"

namespace wicprof::gui {

double IterationStrip::height_of(TimeNs duration) const {
  constexpr double kLowest = 0.12;  // the share of the height that the shortest median has on a logarithmic axis
  const double value = static_cast<double>(std::max<TimeNs>(duration, 1)), top = static_cast<double>(most);
  if (most <= 0) return 0;
  if (!logarithmic) return std::clamp(value / top, 0.0, 1.0);
  const double bottom = static_cast<double>(std::max<TimeNs>(least, 1));
  return std::clamp(kLowest + (1 - kLowest) * std::log(value / bottom) / std::log(top / bottom), 0.0, 1.0);
}

IterationStrip iteration_strip(const std::vector<StripInput>& phases, std::size_t columns) {
  IterationStrip strip;
  for (const StripInput& input : phases) {
    StripPhase phase;
    phase.mode = input.mode;
    phase.label = input.label;
    const std::vector<analyzer::Iteration>& list = *input.iterations;
    phase.iterations = list.size();
    std::vector<TimeNs> all;
    for (const analyzer::Iteration& iteration : list) all.push_back(iteration.duration());
    const std::size_t count = std::min(std::max<std::size_t>(columns, 1), list.size());
    for (std::size_t i = 0; i < count; ++i) {
      StripPhase::Column column;
      column.first = i * list.size() / count;
      column.last = (i + 1) * list.size() / count - 1;
      std::vector<TimeNs> some(all.begin() + static_cast<std::ptrdiff_t>(column.first),
                               all.begin() + static_cast<std::ptrdiff_t>(column.last) + 1);
      column.least = *std::min_element(some.begin(), some.end());
      column.most = *std::max_element(some.begin(), some.end());
      column.p50 = analyzer::percentile_in_place(some, 50);
      strip.least = strip.least == 0 ? column.p50 : std::min(strip.least, column.p50);
      strip.most = std::max(strip.most, column.p50);
      phase.columns.push_back(column);
    }
    phase.p50 = analyzer::percentile_in_place(all, 50);
    strip.phases.push_back(std::move(phase));
  }
  strip.logarithmic =
      strip.least > 0 && static_cast<double>(strip.most) > kLogarithmicFrom * static_cast<double>(strip.least);
  return strip;
}

}  // namespace wicprof::gui
