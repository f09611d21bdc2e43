#include "reports/html/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/machine_code/kernel_polling.h"
#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/wait_state_table.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"
#include "reports/html/lane_row.h"

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

/// The `most` keys with the most time, in the order of the keys.
template <class Key, class Rows>
std::vector<Key> busiest(const std::map<Key, Rows>& all, std::size_t most) {
  std::vector<std::pair<TimeNs, Key>> by_time;
  for (const auto& [key, rows] : all) by_time.emplace_back(-rows.time(), key);
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

/// The rows of a stream or a thread: stretches that overlap get further rows, at most kMaxNestedRows.
class NestedRows {
 public:
  /// In order of begin.
  void add(const Stretch& stretch, const Grains& grains) {
    std::size_t row = 0;
    while (row < ends_.size() && ends_[row] > stretch.when.begin) ++row;
    if (row == kMaxNestedRows) row = kMaxNestedRows - 1;
    if (row == ends_.size()) ends_.push_back(0);
    ends_[row] = std::max(ends_[row], stretch.when.end);
    rows_[row].add(stretch, grains);
  }
  TimeNs time() const {
    TimeNs sum = 0;
    for (const LaneRow& row : rows_) sum += row.time();
    return sum;
  }
  std::array<LaneRow, kMaxNestedRows>& rows() { return rows_; }

 private:
  std::vector<TimeNs> ends_;
  std::array<LaneRow, kMaxNestedRows> rows_;
};

/// A lane that shows how many wait.
struct CountedRow {
  LaneRow row{true};
  MostAtOnce at_once;
};

class Gatherer {
 public:
  Gatherer(const TraceModel& model, const Analysis& analysis, const std::vector<Interval>& fine)
      : model_(model), analysis_(analysis), states_(model), fine_(fine), grains_({model.begin, model.end}, fine) {}

  Lanes gather(const std::vector<WakeEdge>& edges) && {
    for (std::size_t i = 0; i < std::min(kMaxSiteLanes, analysis_.sites.size()); ++i) add_site(analysis_.sites[i]);
    add_streams();
    add_managed_memory();
    add_threads();
    add_arrows(edges);
    lanes_.labels = labels_.take();
    return std::move(lanes_);
  }

 private:
  using Place = std::tuple<DeviceId, std::uint32_t>;  // device, SM
  using Thread = std::pair<store::ProcessId, std::uint32_t>;

  /// Whether there is such a lane: not if it is empty.
  bool add(Lane lane, LaneRow& row) {
    lane.stretches = row.take();
    if (lane.stretches.empty()) return false;
    lane.name = shorten(one_line(lane.name), kLabelWidth);
    lane.group = shorten(one_line(lane.group), kLabelWidth);
    for (const Stretch& stretch : lane.stretches) {
      lane.looks.add(stretch.state);
      if (stretch.polling > 0) lane.looks.add_sampled_polling();
    }
    lanes_.list.push_back(std::move(lane));
    return true;
  }
  bool add(Lane lane, CountedRow& counted) {
    lane.counted = lane.on_paper = true;
    lane.waiters = std::max(1.0, static_cast<double>(counted.at_once.most()));
    return add(std::move(lane), counted.row);
  }
  /// `on_paper`: whether the first row is.
  void add(const std::string& group, const std::string& name, NestedRows nested, bool on_paper) {
    for (LaneRow& row : nested.rows()) {
      add({.group = group, .name = name, .on_paper = on_paper}, row);
      on_paper = false;
    }
  }

  /// The stretch of a row that has one state.
  template <class Row>
  static Stretch stretch_of(const Row& row, std::uint32_t label = 0) {
    const auto [begin, end] = store::times_of(row);
    return {{begin, end}, store::state_of(row), label};
  }

  void add_site(const SiteStats& site) {
    LaneRow signals;
    for (const store::SignalRow& signal : model_.signals) {
      if (signal.site == site.site) signals.add(stretch_of(signal), grains_);
    }
    if (add({.group = site.name, .name = "signals", .site = site.site}, signals))
      signal_lanes_[site.site] = lanes_.list.size() - 1;
    add_waits_on_sms(site);
    CountedRow host;
    for (const store::HostWaitRow& wait : model_.host_waits) {
      if (wait.site != site.site) continue;
      host.row.add(stretch_of(wait), grains_);
      host.at_once.add(wait.begin, wait.end);
    }
    if (add({.group = site.name, .name = "CPU", .site = site.site}, host))
      wait_lanes_[{site.site, kHostDevice, 0}] = lanes_.list.size() - 1;
  }

  void add_waits_on_sms(const SiteStats& site) {
    const auto key_of = [](const store::WaitList::Pointer& wait) {
      return (std::uint64_t{static_cast<std::uint32_t>(wait->device)} << 32) | wait->sm;
    };
    analyzer::FlatIndex numbers;  // of the places
    std::vector<Place> places;
    std::set<DeviceId> devices;
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const auto wait = model_.waits.pointer_to(i);
      if (wait->site != site.site || numbers.number(key_of(wait)) < places.size()) continue;
      places.emplace_back(wait->device, wait->sm);
      devices.insert(wait->device);
    }
    std::map<Place, CountedRow> chosen;
    for (const Place& place : evenly_chosen(std::set(places.begin(), places.end()))) chosen[place];
    std::vector<CountedRow*> rows;  // by place; nullptr: not chosen
    for (const Place& place : places) {
      const auto at = chosen.find(place);
      rows.push_back(at == chosen.end() ? nullptr : &at->second);
    }
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const auto at = model_.waits.pointer_to(i);
      if (at->site != site.site) continue;
      CountedRow* const row = rows[numbers.find(key_of(at))];
      if (row == nullptr) continue;
      const store::WaitRow& wait = *at;
      // As in the window, warps at a barrier have the colour of the warp that waits for the word.
      const std::uint32_t warps = 1 + states_.others(i);
      const auto add_stretch = [&](State state, TimeNs begin, TimeNs end, std::uint32_t) {
        const State way = state == State::at_barrier ? store::state_under(wait.strategy) : state;
        row->row.add({{begin, end}, way, 0, warps}, grains_);
      };
      store::each_stretch(wait, states_.own(i), 0, add_stretch);
      row->at_once.add(wait.arrived, wait.resumed, warps);
    }
    for (auto& [place, counted] : chosen) {
      const auto [device, sm] = place;
      const std::string name =
          devices.size() > 1 ? fmt::format("{}, SM {}", model_.device_key(device), sm) : fmt::format("SM {}", sm);
      if (add({.group = site.name, .name = name, .site = site.site}, counted))
        wait_lanes_[{site.site, device, sm}] = lanes_.list.size() - 1;
    }
  }

  void add_streams() {
    std::map<std::tuple<DeviceId, std::uint32_t>, NestedRows> streams;
    analyzer::ProgramKernels of_program;
    analyzer::PollingShares shares(analysis_.polling_loops);
    std::unordered_map<const std::string*, std::uint32_t> labels;  // by the name that kernels share
    auto copy = model_.copies.begin();
    const auto add_copies = [&](TimeNs before) {
      for (; copy != model_.copies.end() && copy->start < before; ++copy)
        streams[{copy->device, copy->stream}].add(
            stretch_of(*copy, labels_.number(std::string(copy_kind_name(copy->kind)))), grains_);
    };
    for (const store::KernelRow& kernel : model_.kernels) {
      if (!of_program(kernel)) continue;
      add_copies(kernel.start);
      const auto [label, is_new] = labels.try_emplace(&kernel.name.text());
      if (is_new) label->second = labels_.number(function_name(kernel.name));
      Stretch stretch = stretch_of(kernel, label->second);
      stretch.polling = static_cast<float>(shares.of(kernel));
      streams[{kernel.device, kernel.stream}].add(stretch, grains_);
    }
    add_copies(std::numeric_limits<TimeNs>::max());
    for (const auto& key : busiest(streams, kMaxStreams)) {
      add("Streams", fmt::format("{}, stream {}", model_.device_key(std::get<0>(key)), std::get<1>(key)),
          std::move(streams[key]), true);
    }
  }

  void add_managed_memory() {
    std::map<DeviceId, NestedRows> migrations;
    for (const store::UvmRow& row : model_.uvm) {
      if (store::state_of(row) != State::transferring) continue;
      migrations[row.device].add(stretch_of(row, labels_.number(row.cause)), grains_);
    }
    for (const DeviceId device : busiest(migrations, kMaxStreams))
      add("Managed memory", "to " + model_.device_key(device), std::move(migrations[device]), true);
  }

  void add_threads() {
    add_threads("NVTX ranges", model_.nvtx, [](const store::NvtxRow& range) { return std::string(range.name); });
    add_threads("CPU threads: waits", model_.host_waits, [&](const store::HostWaitRow& wait) {
      return wait.site == 0 ? std::string(wait.call) : model_.site_name(wait.site);
    });
    add_threads("CPU threads: calls", model_.calls, [](const store::CallRow& call) { return std::string(call.name); });
  }
  template <class Rows, class LabelOf>
  void add_threads(const char* group, const Rows& rows, LabelOf label_of) {
    std::map<Thread, NestedRows> threads;
    for (const auto& row : rows) {
      if constexpr (requires { row.in_call(); }) {
        if (!row.in_call()) continue;
      }
      threads[{row.process, row.thread}].add(stretch_of(row, labels_.number(label_of(row))), grains_);
    }
    for (const Thread& thread : busiest(threads, kMaxThreads))
      add(group, fmt::format("thread {}", thread.second), std::move(threads[thread]), false);
  }

  void add_arrows(const std::vector<WakeEdge>& edges) {
    for (const WakeEdge& edge : edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const auto from = signal_lanes_.find(signal.site);
      if (from == signal_lanes_.end()) continue;
      const WaitView wait = view_of(model_, edge);
      const auto holds = [&](const Interval& window) { return signal.at >= window.begin && wait.end <= window.end; };
      if (std::none_of(fine_.begin(), fine_.end(), holds)) continue;
      const auto to = wait_lanes_.find({wait.site, wait.device, wait.sm});
      if (to != wait_lanes_.end()) lanes_.arrows.push_back({from->second, to->second, signal.at, wait.end});
    }
  }

  const TraceModel& model_;
  const Analysis& analysis_;
  const WaitStateTable states_;
  const std::vector<Interval>& fine_;
  const Grains grains_;
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
  return Gatherer(model, analysis, fine).gather(edges);
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
