#include "analyzer/compare/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/compare/energy.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {
namespace {

/// The times at one site or edge on one side, window by window.
struct Series {
  std::vector<std::vector<TimeNs>> windows;
  std::optional<TimeNs> error = 0;  // the largest clock error; nothing if any is unknown
  TimeNs cpu = 0, with_cpu = 0;  // of host threads' waits: CPU time, and the length of the waits for which it is known

  std::optional<double> cpu_share() const {
    return with_cpu > 0 ? std::optional(static_cast<double>(cpu) / static_cast<double>(with_cpu)) : std::nullopt;
  }

  void add(std::size_t window, TimeNs time) {
    if (windows.size() <= window) windows.resize(window + 1);
    windows[window].push_back(time);
  }
};

using EdgeName = std::tuple<std::string, std::string, std::string>;  // from, to, site

struct Gathered {
  std::map<std::string, Series> sites;
  std::map<EdgeName, Series> edges;
};

/// Caches the last lookup: consecutive rows of a trace mostly have the same key.
template <class Key, class Find>
class CachedLookup {
 public:
  explicit CachedLookup(Find find) : find_(std::move(find)) {}
  Series& operator()(const Key& key) {
    if (last_ == nullptr || !(key == key_)) {
      auto [at, is_new] = known_.try_emplace(key, nullptr);
      if (is_new) at->second = &find_(key);
      last_ = at->second;
      key_ = key;
    }
    return *last_;
  }

 private:
  Find find_;
  std::map<Key, Series*> known_;
  Key key_{};
  Series* last_ = nullptr;
};

void gather_sites(const Window& window, std::size_t number, Gathered& all) {
  const TraceModel& model = *window.model;
  const auto find = [&](SiteId site) -> Series& { return all.sites[model.site_name(site)]; };
  CachedLookup<SiteId, decltype(find)> series(find);
  for_each_wait(model, [&](const WaitView& wait) {
    if ((wait.host && wait.site == 0) || wait.begin < window.begin || wait.end > window.end) return;
    Series& site = series(wait.site);
    site.add(number, wait.took());
    if (!wait.host || !model.host_waits[wait.index].cpu) return;
    site.cpu += *model.host_waits[wait.index].cpu;
    site.with_cpu += wait.end - wait.begin;
  });
}

void gather_edges(const Window& window, const Matching& matching, std::size_t number, Gathered& all) {
  const TraceModel& model = *window.model;
  using Key = std::tuple<SiteId, DeviceId, DeviceId>;
  const auto find = [&](const Key& key) -> Series& {
    const auto& [site, from, to] = key;
    return all.edges[{model.device_name(from), model.device_name(to), model.site_name(site)}];
  };
  CachedLookup<Key, decltype(find)> series(find);
  const ClockErrors clocks(model);
  for (const WakeEdge& edge : matching.edges) {
    const store::SignalRow& signal = model.signals[edge.signal];
    const WaitView wait = view_of(model, edge);
    if (wait.begin < window.begin || wait.end > window.end) continue;
    Series& found = series(Key{signal.site, signal.device, wait.device});
    found.add(number, std::max<TimeNs>(0, wake_latency(model, edge)));
    const std::optional<TimeNs> error = clocks.between(signal.device, wait.device);
    found.error = found.error && error ? std::optional(std::max(*found.error, *error)) : std::nullopt;
  }
}

Gathered gather(const std::vector<Window>& windows) {
  Gathered all;
  std::map<const TraceModel*, Matching> matchings;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto [matching, is_new] = matchings.try_emplace(windows[i].model);
    if (is_new) matching->second = match(*windows[i].model);
    gather_sites(windows[i], i, all);
    gather_edges(windows[i], matching->second, i, all);
  }
  return all;
}

/// Adds a unit for each window that has times; returns the number of times.
std::uint64_t add_units(const Series& series, const std::vector<Window>& windows, bool after,
                        std::vector<Unit>& units) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < series.windows.size(); ++i) {
    if (series.windows[i].empty()) continue;
    count += series.windows[i].size();
    const Window& window = windows[i];
    units.push_back({after, window.begin + (window.end - window.begin) / 2, window.block,
                     std::log(std::max(1.0, median_between_ticks(series.windows[i])))});
  }
  return count;
}

using Sides = std::array<const std::vector<Window>*, 2>;

void compare_series(const Series& before, const Series& after, const Sides& windows, const DifferenceOptions& options,
                    double spread, Difference& to) {
  std::vector<Unit> units;
  to.before_count = add_units(before, *windows[0], false, units);
  to.after_count = add_units(after, *windows[1], true, units);
  UnitDesign design = options.design;
  design.spread = spread;
  const UnitRatio ratio = unit_ratio(units, design);
  if (to.before_count == 0 || to.after_count == 0) {
    const Series& only = to.before_count > 0 ? before : after;
    std::vector<TimeNs> all;
    for (const auto& window : only.windows) all.insert(all.end(), window.begin(), window.end());
    (to.before_count > 0 ? to.before_p50_ns : to.after_p50_ns) = percentile(std::move(all), 50);
    return;
  }
  to.before_p50_ns = std::llround(std::exp(ratio.log_before));
  to.after_p50_ns = std::llround(std::exp(ratio.log_after));
  if (std::min(to.before_count, to.after_count) < std::max<std::size_t>(1, options.min_values)) return;
  to.ratio = ratio.speedup;
  to.method = ratio.method;
  to.verdict = judge(*to.ratio, options.tolerance);
}

template <class Key>
std::vector<std::pair<Key, std::pair<const Series*, const Series*>>> joined(const std::map<Key, Series>& before,
                                                                            const std::map<Key, Series>& after) {
  static const Series kNone;
  std::map<Key, std::pair<const Series*, const Series*>> both;
  for (const auto& [key, series] : before) both[key] = {&series, &kNone};
  for (const auto& [key, series] : after) {
    auto& entry = both.try_emplace(key, &kNone, &kNone).first->second;
    entry.second = &series;
  }
  return {both.begin(), both.end()};
}

/// Where the call of the site with that name stands.
std::string place_of(const std::vector<Window>& windows, const std::string& name) {
  for (const Window& window : windows) {
    for (const store::SiteRow& site : window.model->sites) {
      if (site.name == name) return site.place;
    }
  }
  return {};
}

/// Each window in which the meter was read for long enough is a unit.
std::vector<MeterDifference> meter_differences(const Sides& windows, const DifferenceOptions& options) {
  std::map<const TraceModel*, std::vector<MeterReadings>> known;
  std::map<std::string, std::vector<Unit>> units;
  for (const bool after : {false, true}) {
    for (const Window& window : *windows[after ? 1 : 0]) {
      const auto [meters, is_new] = known.try_emplace(window.model);
      if (is_new) meters->second = energy_meters(*window.model);
      for (const MeterReadings& meter : meters->second) {
        const std::optional<double> watts = meter.watts(window.begin, window.end);
        if (watts && *watts > 0)
          units[meter.meter].push_back(
              {after, window.begin + (window.end - window.begin) / 2, window.block, std::log(*watts)});
      }
    }
  }
  UnitDesign design = options.design;
  design.spread = kPowerSpread;
  std::vector<MeterDifference> all;
  for (const auto& [meter, of_meter] : units) {
    const UnitRatio ratio = unit_ratio(of_meter, design);
    if (ratio.before == 0 || ratio.after == 0) continue;
    all.push_back({{ratio.speedup, ratio.method, judge(ratio.speedup, options.tolerance)},
                   meter,
                   ratio.before,
                   ratio.after,
                   std::exp(ratio.log_before),
                   std::exp(ratio.log_after)});
  }
  return all;
}

void most_first(auto& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Difference& a, const Difference& b) { return a.before_count > b.before_count; });
}

}  // namespace

Differences differences(const std::vector<Window>& before, const std::vector<Window>& after,
                        const DifferenceOptions& options) {
  const Gathered sides[2] = {gather(before), gather(after)};
  const Sides windows = {&before, &after};
  Differences all;
  for (const auto& [name, series] : joined(sides[0].sites, sides[1].sites)) {
    SiteDifference difference;
    difference.site = name;
    for (const Sides::value_type side : {&after, &before}) {
      if (difference.place.empty()) difference.place = place_of(*side, name);
    }
    difference.before_cpu = series.first->cpu_share();
    difference.after_cpu = series.second->cpu_share();
    compare_series(*series.first, *series.second, windows, options, options.spread_of_waits, difference);
    all.sites.push_back(std::move(difference));
  }
  for (const auto& [name, series] : joined(sides[0].edges, sides[1].edges)) {
    EdgeDifference difference;
    std::tie(difference.from, difference.to, difference.site) = name;
    compare_series(*series.first, *series.second, windows, options, options.spread_of_latencies, difference);
    if (series.first->error && series.second->error) {
      difference.clock_error_ns = std::max(*series.first->error, *series.second->error);
    }
    // A change within the clocks' error gives no verdict.
    const TimeNs change = std::abs(difference.after_p50_ns - difference.before_p50_ns);
    const bool resolved = difference.clock_error_ns && change > *difference.clock_error_ns;
    const bool changed = difference.verdict == Verdict::improvement || difference.verdict == Verdict::regression;
    if (changed && !resolved) difference.verdict = Verdict::inconclusive;
    all.edges.push_back(std::move(difference));
  }
  most_first(all.sites);
  most_first(all.edges);
  all.meters = meter_differences(windows, options);
  return all;
}

}  // namespace wicprof::analyzer
