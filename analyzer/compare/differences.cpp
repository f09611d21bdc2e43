#include "analyzer/compare/differences.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {
namespace {

struct Value {
  std::uint32_t iteration = 0;
  TimeNs time = 0;
};

/// The values of one site or edge on one side, window by window, in order of time.
struct Series {
  std::vector<std::vector<Value>> windows;
  std::optional<TimeNs> error = 0;  // the largest clock error; nothing if any is unknown

  void add(std::size_t window, Value value) {
    if (windows.size() <= window) windows.resize(window + 1);
    windows[window].push_back(value);
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
  const auto add = [&](SiteId site, std::uint32_t iteration, TimeNs from, TimeNs to) {
    if (from < window.begin || to > window.end) return;
    series(site).add(number, {iteration, std::max<TimeNs>(0, to - from)});
  };
  for (const store::WaitRow& wait : model.waits) add(wait.site, wait.iteration, wait.arrived, wait.resumed);
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site != 0) add(wait.site, wait.iteration, wait.begin, wait.end);
  }
}

void gather_edges(const Window& window, const Matching& matching, std::size_t number, Gathered& all) {
  const TraceModel& model = *window.model;
  using Key = std::tuple<SiteId, DeviceId, DeviceId>;
  const auto find = [&](const Key& key) -> Series& {
    const auto& [site, from, to] = key;
    return all.edges[{model.device_name(from), model.device_name(to), model.site_name(site)}];
  };
  CachedLookup<Key, decltype(find)> series(find);
  for (const WakeEdge& edge : matching.edges) {
    const store::SignalRow& signal = model.signals[edge.signal];
    TimeNs from = 0, to = 0;
    std::uint32_t iteration = 0;
    DeviceId device = kHostDevice;
    if (edge.host) {
      const store::HostWaitRow& wait = model.host_waits[edge.wait];
      from = wait.begin, to = wait.end, iteration = wait.iteration;
    } else {
      const store::WaitRow& wait = model.waits[edge.wait];
      from = wait.arrived, to = wait.resumed, iteration = wait.iteration, device = wait.device;
    }
    if (from < window.begin || to > window.end) continue;
    Series& found = series(Key{signal.site, signal.device, device});
    found.add(number, {iteration, std::max<TimeNs>(0, wake_latency(model, edge))});
    found.error = found.error && edge.error_ns ? std::optional(std::max(*found.error, *edge.error_ns)) : std::nullopt;
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

/// The median of each iteration, in the order of the iterations.
std::vector<TimeNs> by_iteration(std::vector<Value> values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const Value& a, const Value& b) { return a.iteration < b.iteration; });
  std::vector<TimeNs> medians, same;
  for (std::size_t i = 0; i < values.size(); ++i) {
    same.push_back(values[i].time);
    if (i + 1 < values.size() && values[i + 1].iteration == values[i].iteration) continue;
    medians.push_back(percentile(std::exchange(same, {}), 50));
  }
  return medians;
}

std::vector<TimeNs> each_wait(const std::vector<Value>& values) {
  std::vector<TimeNs> times;
  times.reserve(values.size());
  for (const Value& value : values) times.push_back(value.time);
  return times;
}

using Lists = std::vector<std::vector<TimeNs>>;

std::size_t size_of(const Lists& lists) {
  std::size_t size = 0;
  for (const auto& list : lists) size += list.size();
  return size;
}

Lists lists_of(const Series& series, const auto& reduce) {
  Lists lists;
  for (const auto& values : series.windows) {
    if (!values.empty()) lists.push_back(reduce(values));
  }
  return lists;
}

TimeNs pooled_median(const Lists& lists) {
  std::vector<TimeNs> pooled;
  for (const auto& list : lists) pooled.insert(pooled.end(), list.begin(), list.end());
  return percentile(std::move(pooled), 50);
}

void compare_series(const Series& before, const Series& after, const DifferenceOptions& options, Difference& to) {
  const Lists waits[2] = {lists_of(before, each_wait), lists_of(after, each_wait)};
  to.before_count = size_of(waits[0]);
  to.after_count = size_of(waits[1]);
  to.before_p50_ns = pooled_median(waits[0]);
  to.after_p50_ns = pooled_median(waits[1]);
  const Lists iterations[2] = {lists_of(before, by_iteration), lists_of(after, by_iteration)};
  const bool enough = std::min(size_of(iterations[0]), size_of(iterations[1])) >= options.min_values;
  const Lists(&lists)[2] = enough ? iterations : waits;
  if (std::min(size_of(lists[0]), size_of(lists[1])) < std::max<std::size_t>(1, options.min_values)) return;
  to.ratio = bootstrap_ratio(lists[0], lists[1], options.bootstrap);
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

void most_first(auto& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Difference& a, const Difference& b) { return a.before_count > b.before_count; });
}

}  // namespace

Differences differences(const std::vector<Window>& before, const std::vector<Window>& after,
                        const DifferenceOptions& options) {
  const Gathered sides[2] = {gather(before), gather(after)};
  Differences all;
  for (const auto& [name, series] : joined(sides[0].sites, sides[1].sites)) {
    SiteDifference difference;
    difference.site = name;
    compare_series(*series.first, *series.second, options, difference);
    all.sites.push_back(std::move(difference));
  }
  for (const auto& [name, series] : joined(sides[0].edges, sides[1].edges)) {
    EdgeDifference difference;
    std::tie(difference.from, difference.to, difference.site) = name;
    compare_series(*series.first, *series.second, options, difference);
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
  return all;
}

}  // namespace wicprof::analyzer
