#include "reports/html/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/machine_code/kernel_polling.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/wait_state_table.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"

namespace wicprof::reports::html {
namespace {

// Limits that keep the timeline to a few screens: those with the most time are shown.
constexpr std::size_t kMaxSiteLanes = 6;
constexpr std::size_t kLanesPerSite = 6;  // SMs, evenly chosen from all of the site's
constexpr std::size_t kMaxStreams = 8;
constexpr std::size_t kMaxThreads = 4;
constexpr std::size_t kMaxNestedRows = 3;  // of nested calls or ranges
constexpr std::size_t kLabelWidth = 80;

/// Numbers the texts; equal texts share a number.
class Labels {
 public:
  std::uint32_t number(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(shorten(one_line(text), kLabelWidth));
    return at->second;
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_{{"", 0}};
  std::vector<std::string> list_{""};
};

/// Splits a wait at the time it noticed a change of strategy, and counts the warps at the barrier behind it.
void add_wait(Lane& lane, const WaitStateTable& states, std::size_t index, const store::WaitRow& wait) {
  const WaitStateTable::Own own = states.own(index);
  if (own.change > wait.arrived) lane.stretches.push_back({{wait.arrived, own.change}, own.first});
  lane.stretches.push_back({{own.change, wait.resumed}, own.last});
  if (const std::uint32_t others = states.others(index); others > 0)
    lane.stretches.push_back({{wait.arrived, wait.resumed}, State::at_barrier, 0, others});
}

/// The largest number of stretches at once.
double most_at_once(const std::vector<Stretch>& stretches) {
  std::vector<std::pair<TimeNs, std::int64_t>> changes;
  for (const Stretch& stretch : stretches) {
    changes.emplace_back(stretch.when.begin, stretch.count);
    changes.emplace_back(stretch.when.end, -std::int64_t{stretch.count});
  }
  std::sort(changes.begin(), changes.end());  // at equal times, ends come first
  std::int64_t now = 0, most = 0;
  for (const auto& [at, by] : changes) most = std::max(most, now += by);
  return static_cast<double>(most);
}

TimeNs time_of(const std::vector<Stretch>& stretches) {
  TimeNs sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.when.end - stretch.when.begin;
  return sum;
}

/// The `most` keys with the most time, in the order of the keys.
template <class Key>
std::vector<Key> busiest(const std::map<Key, std::vector<Stretch>>& all, std::size_t most) {
  std::vector<std::pair<TimeNs, Key>> by_time;
  for (const auto& [key, stretches] : all) by_time.emplace_back(-time_of(stretches), key);
  std::sort(by_time.begin(), by_time.end());
  if (by_time.size() > most) by_time.resize(most);
  std::vector<Key> keys;
  for (const auto& [time, key] : by_time) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// At most kLanesPerSite keys, evenly chosen.
template <class Key>
std::vector<Key> evenly_chosen(const std::set<Key>& keys) {
  const std::vector<Key> all(keys.begin(), keys.end());
  if (all.size() <= kLanesPerSite) return all;
  std::vector<Key> chosen;
  for (std::size_t i = 0; i < kLanesPerSite; ++i) chosen.push_back(all[i * (all.size() - 1) / (kLanesPerSite - 1)]);
  return chosen;
}

class Gatherer {
 public:
  Gatherer(const TraceModel& model, const Analysis& analysis) : model_(model), analysis_(analysis), states_(model) {}

  Lanes gather(const std::vector<WakeEdge>& edges, const std::vector<Interval>& fine) && {
    for (std::size_t i = 0; i < std::min(kMaxSiteLanes, analysis_.sites.size()); ++i) add_site(analysis_.sites[i]);
    add_streams();
    add_managed_memory();
    add_threads();
    add_arrows(edges, fine);
    lanes_.labels = labels_.take();
    return std::move(lanes_);
  }

 private:
  using Place = std::tuple<DeviceId, std::uint32_t>;  // device, SM
  using Thread = std::pair<store::ProcessId, std::uint32_t>;

  /// Does nothing for an empty lane.
  void add(Lane lane) {
    if (lane.stretches.empty()) return;
    lane.name = shorten(one_line(lane.name), kLabelWidth);
    lane.group = shorten(one_line(lane.group), kLabelWidth);
    if (lane.counted) lane.waiters = std::max(1.0, most_at_once(lane.stretches));
    lanes_.list.push_back(std::move(lane));
  }

  void add_site(const SiteStats& site) {
    Lane signals{.group = site.name, .name = "signals", .site = site.site};
    for (const store::SignalRow& signal : model_.signals) {
      if (signal.site == site.site) signals.stretches.push_back({{signal.at, signal.at}, store::state_of(signal)});
    }
    if (!signals.stretches.empty()) signal_lanes_[site.site] = lanes_.list.size();
    add(std::move(signals));

    std::set<Place> places;
    std::set<DeviceId> devices;
    for (const store::WaitRow& wait : model_.waits) {
      if (wait.site != site.site) continue;
      places.insert({wait.device, wait.sm});
      devices.insert(wait.device);
    }
    std::map<Place, Lane> chosen;  // a lane for each SM would hold every wait
    for (const Place& place : evenly_chosen(places)) chosen[place];
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const store::WaitRow& wait = model_.waits[i];
      if (wait.site != site.site) continue;
      if (const auto at = chosen.find({wait.device, wait.sm}); at != chosen.end())
        add_wait(at->second, states_, i, wait);
    }
    for (auto& [place, lane] : chosen) {
      const auto [device, sm] = place;
      lane.group = site.name;
      lane.name =
          devices.size() > 1 ? fmt::format("{}, SM {}", model_.device_key(device), sm) : fmt::format("SM {}", sm);
      lane.site = site.site;
      lane.counted = lane.on_paper = true;
      wait_lanes_[{site.site, device, sm}] = lanes_.list.size();
      add(std::move(lane));
    }
    Lane host{.group = site.name, .name = "CPU", .site = site.site, .counted = true, .on_paper = true};
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (wait.site == site.site) host.stretches.push_back({{wait.begin, wait.end}, store::state_of(wait)});
    }
    if (!host.stretches.empty()) wait_lanes_[{site.site, kHostDevice, 0}] = lanes_.list.size();
    add(std::move(host));
  }

  void add_streams() {
    std::map<std::tuple<DeviceId, std::uint32_t>, std::vector<Stretch>> streams;
    analyzer::ProgramKernels of_program;
    analyzer::PollingShares shares(analysis_.polling_loops);
    for (const store::KernelRow& kernel : model_.kernels) {
      if (!of_program(kernel)) continue;
      streams[{kernel.device, kernel.stream}].push_back({{kernel.start, kernel.end},
                                                         store::state_of(kernel),
                                                         labels_.number(function_name(kernel.name)),
                                                         1,
                                                         static_cast<float>(shares.of(kernel))});
    }
    for (const store::CopyRow& copy : model_.copies) {
      streams[{copy.device, copy.stream}].push_back(
          {{copy.start, copy.end}, store::state_of(copy), labels_.number(std::string(copy_kind_name(copy.kind)))});
    }
    for (const auto& key : busiest(streams, kMaxStreams)) {
      add_rows("Streams", fmt::format("{}, stream {}", model_.device_key(std::get<0>(key)), std::get<1>(key)),
               std::move(streams[key]), true);
    }
  }

  void add_managed_memory() {
    std::map<DeviceId, std::vector<Stretch>> migrations;
    for (const store::UvmRow& row : model_.uvm) {
      if (store::state_of_migration(row.kind) != State::transferring) continue;
      migrations[row.device].push_back({{row.start, row.end}, store::state_of(row), labels_.number(row.cause)});
    }
    for (const DeviceId device : busiest(migrations, kMaxStreams)) {
      add_rows("Managed memory", "to " + model_.device_key(device), std::move(migrations[device]), true);
    }
  }

  void add_threads() {
    std::map<Thread, std::vector<Stretch>> ranges, waits, calls;
    for (const store::NvtxRow& range : model_.nvtx)
      ranges[{range.process, range.thread}].push_back(
          {{range.start, range.end}, store::state_of(range), labels_.number(range.name)});
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (!wait.in_call()) continue;
      waits[{wait.process, wait.thread}].push_back(
          {{wait.begin, wait.end},
           store::state_of(wait),
           labels_.number(wait.site == 0 ? std::string(wait.call) : model_.site_name(wait.site))});
    }
    for (const store::CallRow& call : model_.calls)
      calls[{call.process, call.thread}].push_back(
          {{call.start, call.end}, store::state_of(call), labels_.number(call.name)});
    const auto add_all = [&](std::map<Thread, std::vector<Stretch>>& all, const char* group) {
      for (const Thread& thread : busiest(all, kMaxThreads))
        add_rows(group, fmt::format("thread {}", thread.second), std::move(all[thread]), false);
    };
    add_all(ranges, "NVTX ranges");
    add_all(waits, "CPU threads: waits");
    add_all(calls, "CPU threads: calls");
  }

  /// Stretches that overlap get further rows, at most kMaxNestedRows.
  void add_rows(const std::string& group, const std::string& name, std::vector<Stretch> stretches, bool on_paper) {
    std::stable_sort(stretches.begin(), stretches.end(),
                     [](const Stretch& a, const Stretch& b) { return a.when.begin < b.when.begin; });
    std::vector<TimeNs> ends;
    std::vector<Stretch> further[kMaxNestedRows - 1];
    const auto is_further = [&](const Stretch& stretch) {
      std::size_t row = 0;
      while (row < ends.size() && ends[row] > stretch.when.begin) ++row;
      if (row == kMaxNestedRows) row = kMaxNestedRows - 1;
      if (row == ends.size()) ends.push_back(0);
      if (row > 0) further[row - 1].push_back(stretch);
      ends[row] = std::max(ends[row], stretch.when.end);
      return row > 0;
    };
    stretches.erase(std::remove_if(stretches.begin(), stretches.end(), is_further), stretches.end());
    add({.group = group, .name = name, .on_paper = on_paper, .stretches = std::move(stretches)});
    for (std::vector<Stretch>& row : further) add({.group = group, .name = name, .stretches = std::move(row)});
  }

  void add_arrows(const std::vector<WakeEdge>& edges, const std::vector<Interval>& fine) {
    for (const WakeEdge& edge : edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const auto from = signal_lanes_.find(signal.site);
      if (from == signal_lanes_.end()) continue;
      const WaitView wait = view_of(model_, edge);
      const auto holds = [&](const Interval& window) { return signal.at >= window.begin && wait.end <= window.end; };
      if (std::none_of(fine.begin(), fine.end(), holds)) continue;
      const auto to = wait_lanes_.find({wait.site, wait.device, wait.sm});
      if (to != wait_lanes_.end()) lanes_.arrows.push_back({from->second, to->second, signal.at, wait.end});
    }
  }

  const TraceModel& model_;
  const Analysis& analysis_;
  const WaitStateTable states_;
  Labels labels_;
  Lanes lanes_;
  std::map<SiteId, std::size_t> signal_lanes_;
  std::map<std::tuple<SiteId, DeviceId, std::uint32_t>, std::size_t> wait_lanes_;
};

// A close-up shows kCloseUpIterations of the slower iterations on each side of a change of mode. Their length is the
// median of kCloseUpNeighbours iterations next to the change. Both chosen for readability.
constexpr TimeNs kCloseUpIterations = 3;
constexpr std::size_t kCloseUpNeighbours = 15;
constexpr std::size_t kMaxCloseUps = 3;

/// The larger median length of the iterations just before and just after a change; 0 if either side has none.
TimeNs slower_side(const std::vector<Iteration>& iterations, const store::InterventionRow& row) {
  std::vector<TimeNs> before, after;
  for (const Iteration& iteration : iterations) {
    if (iteration.end <= row.requested) before.push_back(iteration.duration());
    if (iteration.begin >= row.effective && after.size() < kCloseUpNeighbours) after.push_back(iteration.duration());
  }
  if (before.size() > kCloseUpNeighbours) before.erase(before.begin(), before.end() - kCloseUpNeighbours);
  return before.empty() || after.empty() ? 0 : std::max(percentile(before, 50), percentile(after, 50));
}

}  // namespace

Lanes gather_lanes(const TraceModel& model, const Analysis& analysis, const std::vector<WakeEdge>& edges,
                   const std::vector<Interval>& fine) {
  return Gatherer(model, analysis).gather(edges, fine);
}

std::vector<Interval> close_ups(const TraceModel& model, const Analysis& analysis) {
  std::vector<Interval> list;
  if (!analysis.iterations || analysis.iterations->list.empty()) return list;
  const std::vector<Iteration>& iterations = analysis.iterations->list;
  bool changes = false;
  for (const store::InterventionRow& row : model.interventions) {
    if (row.old_mode == row.new_mode) continue;
    changes = true;
    const TimeNs reach = kCloseUpIterations * slower_side(iterations, row);
    const Interval around{row.effective - reach, row.effective + reach};
    // A change before the first waits, or too near either end of the trace, would show only one side.
    if (reach == 0 || around.begin < model.begin || around.end > model.end) continue;
    if (list.size() == kMaxCloseUps || (!list.empty() && around.begin < list.back().end)) continue;
    list.push_back(around);
  }
  if (!changes) {
    const std::size_t middle = iterations.size() / 2;
    const std::size_t last = std::min(middle + 2 * kCloseUpIterations, iterations.size()) - 1;
    if (iterations[last].end > iterations[middle].begin)
      list.push_back({iterations[middle].begin, iterations[last].end});
  }
  return list;
}

}  // namespace wicprof::reports::html
