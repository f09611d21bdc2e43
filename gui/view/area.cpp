#include "gui/view/area.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

namespace wicprof::gui {

namespace {

std::vector<AreaSite> sites_in(const analyzer::TraceModel& model, const Timeline& timeline, TimeNs begin, TimeNs end,
                               const std::vector<std::size_t>& which) {
  struct Sum {
    AreaSite site;
    std::vector<TimeNs> wakes;
  };
  constexpr TimeNs kUnknown = std::numeric_limits<TimeNs>::min();
  std::vector<TimeNs> wakes(model.waits.size(), kUnknown);  // by wait
  for (const analyzer::WakeEdge& edge : timeline.edges) {
    if (!edge.host) wakes[edge.wait] = analyzer::wake_latency(model, edge);
  }
  std::map<std::tuple<SiteId, std::string_view, State>, Sum> sums;
  for (const std::size_t index : which) {
    for (const SpanRow& row : timeline.tracks[index].rows) {
      for (const Span& span : row.overlapping(begin, end)) {
        const bool host = span.ref.kind == EventKind::host_wait;
        if (!host && span.ref.kind != EventKind::wait) continue;
        const SiteId site = host ? model.host_waits[span.ref.index].site : model.waits[span.ref.index].site;
        const std::string_view call =
            host && site == 0 ? std::string_view(model.host_waits[span.ref.index].call) : std::string_view();
        Sum& sum = sums[{site, call, span.state}];
        ++sum.site.waits;
        sum.site.waiting_ns += std::min(end, span.end) - std::max(begin, span.begin);
        if (host) continue;
        if (wakes[span.ref.index] != kUnknown) sum.wakes.push_back(wakes[span.ref.index]);
      }
    }
  }
  std::vector<AreaSite> list;
  for (auto& [key, sum] : sums) {
    sum.site.name = std::get<0>(key) != 0 ? model.site_name(std::get<0>(key)) : std::string(std::get<1>(key));
    sum.site.way = std::get<2>(key);
    if (!sum.wakes.empty()) {
      const auto middle = sum.wakes.begin() + static_cast<std::ptrdiff_t>((sum.wakes.size() - 1) / 2);
      std::nth_element(sum.wakes.begin(), middle, sum.wakes.end());
      sum.site.wake_p50_ns = *middle;
    }
    list.push_back(std::move(sum.site));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.waiting_ns > b.waiting_ns; });
  return list;
}

}  // namespace

Area sum_up(const analyzer::TraceModel& model, const Timeline& timeline, TimeNs begin, TimeNs end,
            const std::vector<std::size_t>& which) {
  Area area{begin, std::max(end, begin + 1), which.size(), 0, {}, {}};
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
  area.sites = sites_in(model, timeline, area.begin, area.end, which);
  return area;
}

}  // namespace wicprof::gui
