#include "analyzer/trace/clock_bounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/trace/device_work.h"

namespace wicprof::analyzer {
namespace {

class BoundsCollector {
 public:
  BoundsCollector(TimeNs origin, TimeNs window) : origin_(origin), window_(std::max<TimeNs>(1, window)) {}

  void at_most(DeviceId device, TimeNs at, TimeNs error) {
    ClockWindow& w = window_of(device, at);
    w.high = w.high ? std::min(*w.high, error) : error;
    ++w.highs;
  }
  void at_least(DeviceId device, TimeNs at, TimeNs error) {
    ClockWindow& w = window_of(device, at);
    w.low = w.low ? std::max(*w.low, error) : error;
    ++w.lows;
  }

  std::vector<ClockBounds> result() const {
    std::vector<ClockBounds> all;
    for (const auto& [key, window] : windows_) {
      if (all.empty() || all.back().device != key.first) all.emplace_back().device = key.first;
      all.back().windows.push_back(window);
    }
    for (ClockBounds& bounds : all) settle(bounds);
    return all;
  }

 private:
  ClockWindow& window_of(DeviceId device, TimeNs at) {
    const TimeNs number = (at - origin_) / window_ - (at < origin_ ? 1 : 0);
    ClockWindow& w = windows_[{device, number}];
    w.begin = origin_ + number * window_;
    w.end = w.begin + window_;
    return w;
  }

  static void settle(ClockBounds& bounds) {
    std::optional<TimeNs> highest_low, lowest_high;
    for (const ClockWindow& w : bounds.windows) {
      bounds.proven_error = std::max(bounds.proven_error, w.proven_error());
      if (w.low) highest_low = std::max(highest_low.value_or(*w.low), *w.low);
      if (w.high) lowest_high = std::min(lowest_high.value_or(*w.high), *w.high);
      if (!w.low || !w.high) continue;
      // In a contradictory window the error takes both values.
      bounds.low = std::min(bounds.low.value_or(*w.low), std::min(*w.low, *w.high));
      bounds.high = std::max(bounds.high.value_or(*w.high), std::max(*w.low, *w.high));
    }
    if (highest_low && lowest_high) bounds.proven_drift = std::max<TimeNs>(0, *highest_low - *lowest_high);
  }

  TimeNs origin_, window_;
  std::map<std::pair<DeviceId, TimeNs>, ClockWindow> windows_;
};

// Work in the order of its requests, so that the work that a waiting call waits for is a prefix.
class RequestedWork {
 public:
  void add(const WorkItem& item) { items_.push_back({item.call->end, &item}); }
  void settle() {
    const auto earlier = [](const Item& a, const Item& b) { return a.requested < b.requested; };
    if (!std::is_sorted(items_.begin(), items_.end(), earlier)) std::sort(items_.begin(), items_.end(), earlier);
    const WorkItem* last = nullptr;
    for (Item& item : items_) {
      if (last == nullptr || item.last->end > last->end) last = item.last;
      item.last = last;
    }
  }
  /// The work requested by this time that ended last on the GPU's clock; nullptr if there is none.
  const WorkItem* last_before(TimeNs requested) const {
    const auto after =
        std::partition_point(items_.begin(), items_.end(), [&](const Item& i) { return i.requested <= requested; });
    return after == items_.begin() ? nullptr : std::prev(after)->last;
  }

 private:
  struct Item {
    TimeNs requested;
    const WorkItem* last;
  };
  std::vector<Item> items_;
};

using ContextKey = std::pair<store::ProcessId, std::uint32_t>;

struct Recording {
  StreamKey stream;
  std::optional<IndexedCall> call;
};

}  // namespace

TimeNs ClockWindow::proven_error() const {
  TimeNs proven = 0;
  if (low) proven = std::max(proven, *low);
  if (high) proven = std::max(proven, -*high);
  return proven;
}

std::vector<ClockBounds> clock_bounds(const TraceModel& model, TimeNs window) {
  const CallIndex calls(model);
  return clock_bounds(model, calls, DeviceWork(model, calls), window);
}

std::vector<ClockBounds> clock_bounds(const TraceModel& model, const CallIndex& calls, const DeviceWork& work,
                                      TimeNs window) {
  BoundsCollector bounds(model.begin, window);

  std::map<StreamKey, RequestedWork> by_stream;
  std::map<ContextKey, RequestedWork> by_context;
  for (const auto& [stream, items] : work.by_stream) {
    for (const WorkItem& item : items) {
      if (!item.call) continue;
      bounds.at_most(item.device, item.start, item.start - item.call->begin);
      // A synchronous copy to the host: its call returns after the copy has ended.
      const bool waited_for = item.copy != nullptr && !item.copy->asynchronous && item.copy->graph == 0 &&
                              item.copy->kind == CopyKind::device_to_host;
      if (waited_for) bounds.at_least(item.device, item.end, item.end - item.call->end);
      by_stream[stream].add(item);
      by_context[{stream.process, stream.context}].add(item);
    }
  }
  for (auto& [key, requested] : by_stream) requested.settle();
  for (auto& [key, requested] : by_context) requested.settle();

  std::map<std::pair<store::ProcessId, std::uint64_t>, Recording> recordings;
  for (const store::CudaEventRow& event : model.cuda_events) {
    if (!event.event_sync) continue;
    recordings[{event.process, *event.event_sync}] = {{event.process, event.context, event.stream},
                                                      calls.find(event.process, event.correlation)};
  }

  const auto waited = [&](const auto& known, const auto& key, TimeNs requested_before, TimeNs returned) {
    const auto found = known.find(key);
    const WorkItem* last = found == known.end() ? nullptr : found->second.last_before(requested_before);
    if (last != nullptr) bounds.at_least(last->device, last->end, last->end - returned);
  };
  for (const store::SyncRow& sync : model.syncs) {
    if (sync.result != 0) continue;  // the call failed, and may not have waited
    // CUPTI's record may end before the call returns, and only the return proves that the wait is over.
    const auto call = calls.find(sync.process, sync.correlation);
    if (!call) continue;
    const TimeNs returned = std::max(sync.end, call->span.end);
    if (sync.kind == SyncKind::context) {
      waited(by_context, ContextKey{sync.process, sync.context}, sync.start, returned);
    } else if (sync.kind == SyncKind::stream && sync.stream) {
      waited(by_stream, StreamKey{sync.process, sync.context, *sync.stream}, sync.start, returned);
    } else if (sync.kind == SyncKind::event && sync.event_sync) {
      const auto recording = recordings.find({sync.process, *sync.event_sync});
      if (recording == recordings.end() || !recording->second.call) continue;
      waited(by_stream, recording->second.stream, recording->second.call->span.begin, returned);
    }
  }
  return bounds.result();
}

}  // namespace wicprof::analyzer
