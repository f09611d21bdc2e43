#include "gui/view/area.h"

#include <algorithm>

namespace wicprof::gui {

Area sum_up(const Timeline& timeline, TimeNs begin, TimeNs end, const std::vector<std::size_t>& which) {
  Area area{begin, std::max(end, begin + 1), which.size(), 0, {}};
  double times[kStates] = {};
  for (const std::size_t index : which) {
    const Track& track = timeline.tracks[index];
    for (const SpanRow& row : track.rows) area.events += row.count_in(area.begin, area.end);
    for (std::size_t s = 0; s < kStates; ++s) {
      const auto state = static_cast<State>(s);
      if (track.has_strip()) {
        times[s] += track.density.time_in(state, area.begin, area.end);
      } else {
        for (const SpanRow& row : track.rows) times[s] += static_cast<double>(row.time_in(state, area.begin, area.end));
      }
    }
  }
  for (std::size_t s = 0; s < kStates; ++s) {
    if (times[s] > 0)
      area.sums.push_back({static_cast<State>(s), times[s], times[s] / static_cast<double>(area.end - area.begin)});
  }
  std::stable_sort(area.sums.begin(), area.sums.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  return area;
}

}  // namespace wicprof::gui
