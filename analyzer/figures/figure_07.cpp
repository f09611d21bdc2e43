#include <algorithm>
#include <set>

#include "analyzer/figures/curves.h"
#include "analyzer/figures/list.h"

namespace wicprof::analyzer {
namespace {

using Block = std::pair<DeviceId, std::uint32_t>;

/// The blocks that signal and never wait.
std::set<Block> independent_blocks(const FigureTrace& trace) {
  std::set<Block> waiting, independent;
  for (const Waiter& waiter : trace.waiters->list()) waiting.emplace(waiter.device, waiter.block);
  for (const store::SignalRow& signal : trace.model.signals) {
    if (signal.device != kHostDevice && !waiting.contains({signal.device, signal.block})) {
      independent.emplace(signal.device, signal.block);
    }
  }
  return independent;
}

/// A site's iterations on one device, in order of time.
using Windows = std::vector<const IterationSlot*>;

/// The iteration of a time: the first that ends no earlier; nullptr after the last.
const IterationSlot* window_of(const Windows& windows, TimeNs time) {
  const auto found = std::lower_bound(windows.begin(), windows.end(), time,
                                      [](const IterationSlot* slot, TimeNs t) { return slot->last_resumption < t; });
  return found == windows.end() ? nullptr : *found;
}

}  // namespace

template <>
Figure figure<7>(const FigureInput& input) {
  Figure figure;
  describe_curves(figure, "not_done");
  figure.formula =
      "the share of the signals of blocks that never wait that are sent later than `progress`, which is 0 at an "
      "iteration's first arrival and 1 at its last resumption; the mean over iterations. The trace does not show what "
      "such a block does after its signal";
  if (!has_kernel_waits(input, figure)) return figure;
  for (const auto& trace : input) {
    const std::set<Block> independent = independent_blocks(*trace);
    if (independent.empty()) continue;
    std::map<std::pair<SiteId, DeviceId>, Windows> sites;
    for (const IterationSlot& slot : trace->waiters->slots()) {
      if (slot.device != kHostDevice) sites[{slot.site, slot.device}].push_back(&slot);
    }
    Curves curves;
    for (auto& [key, windows] : sites) {
      std::sort(windows.begin(), windows.end(),
                [](const auto* a, const auto* b) { return a->last_resumption < b->last_resumption; });
      std::map<const IterationSlot*, std::vector<double>> done;
      for (const store::SignalRow& signal : trace->model.signals) {
        if (signal.device != key.second || !independent.contains({signal.device, signal.block})) continue;
        const IterationSlot* slot = window_of(windows, signal.at);
        if (slot != nullptr) done[slot].push_back(progress_at(*slot, signal.at));
      }
      for (const auto& [slot, times] : done) {
        Curve& curve = curves[{key.first, mode_of(*trace, *slot)}];
        curve.add_iteration();
        for (const double time : times) curve.add(time, 1.0 / static_cast<double>(times.size()));
      }
    }
    add_curves(figure, *trace, curves, [](const auto&, const Curve& curve, std::size_t i) { return curve.at(i); });
  }
  if (figure.rows.empty()) {
    figure.missing =
        "the trace does not show when blocks that never wait end, and no such block signals while others wait";
  }
  return figure;
}

}  // namespace wicprof::analyzer
