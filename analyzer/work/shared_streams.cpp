#include "analyzer/work/shared_streams.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/work/launch_shape.h"

namespace wicprof::analyzer {

namespace {

using Thread = std::pair<store::ProcessId, std::uint32_t>;
/// By thread, the times of its waits in calls of CUDA, in order.
using ThreadWaits = std::map<Thread, std::vector<Interval>>;

ThreadWaits waits_of_threads(const TraceModel& model) {
  ThreadWaits waits;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.in_call() && wait.end > wait.begin) waits[{wait.process, wait.thread}].push_back({wait.begin, wait.end});
  }
  return waits;
}

/// How full the devices are.
class Fills {
 public:
  explicit Fills(const TraceModel& model) : model_(model) {
    for (const store::KernelRow& kernel : model.kernels) {
      if (is_backend_work(kernel) || kernel.end <= kernel.start) continue;
      std::vector<Change>& changes = changes_[kernel.device];
      const double fill = of(kernel);
      changes.push_back({kernel.start, fill});
      changes.push_back({kernel.end, -fill});
    }
    for (auto& [device, changes] : changes_) {
      std::ranges::sort(changes, {}, &Change::at);
      double sum = 0;
      for (Change& change : changes) change.fill = sum += change.fill;
    }
  }

  /// The share of its device that the kernel fills, up to 1; 1 where nobody knows.
  double of(const store::KernelRow& kernel) {
    if (kernel.is_graph()) return 1;
    const LaunchShape shape = shape_of(kernel);
    const auto [at, added] = known_.try_emplace(shape, 1);
    if (!added) return at->second;
    const std::optional<Occupancy> fits = occupancy_of(model_, shape);
    const auto device = std::ranges::find(model_.devices, kernel.device, &store::DeviceRow::id);
    if (!fits || device == model_.devices.end()) return 1;
    if (const std::optional<Waves> grid = waves(shape.blocks, device->sm_count, fits->blocks_per_sm))
      at->second = std::min(1.0, grid->waves);
    return at->second;
  }

  /// Calls `visit` for the parts of the time in which kernels leave so much of the device empty.
  template <class Visit>
  void each_with_room(DeviceId device, double room, Interval time, Visit visit) const {
    const auto known = changes_.find(device);
    if (known == changes_.end()) return visit(time);  // its kernels took no time
    const std::vector<Change>& changes = known->second;
    auto next = std::ranges::upper_bound(changes, time.begin, {}, &Change::at);
    double fill = next == changes.begin() ? 0 : std::prev(next)->fill;
    while (time.begin < time.end) {
      const TimeNs until = next == changes.end() ? time.end : std::min(time.end, next->at);
      if (fill + room <= kFull && until > time.begin) visit(Interval{time.begin, until});
      time.begin = until;
      if (next != changes.end()) fill = (next++)->fill;
    }
  }

 private:
  struct Change {
    TimeNs at;
    double fill;  ///< of all kernels, from then on
  };
  static constexpr double kFull = 1 + 1e-6;  // sums of shares are not exact

  const TraceModel& model_;
  std::map<LaunchShape, double> known_;
  std::map<DeviceId, std::vector<Change>> changes_;  // in order
};

/// One stream's work in order.
class StreamOrder {
 public:
  StreamOrder(const StreamKey& stream, const std::vector<WorkItem>& items, const ThreadWaits& waits)
      : items_(items), waits_(waits) {
    found_.stream = stream;
    for (const WorkItem& item : items) {
      if (counts(item)) found_.threads.insert(item.thread);
    }
  }
  bool is_shared() const { return found_.threads.size() > 1; }

  SharedStream found(Fills& fills, Interval ground) {
    std::map<std::uint32_t, TimeNs> own_ends;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const WorkItem& item = items_[i];
      if (!counts(item)) continue;
      ++found_.launches;
      TimeNs& own_end = own_ends[item.thread];
      const Interval ready{std::max({item.call->end, own_end, ground.begin}), std::min(item.start, ground.end)};
      own_end = std::max(own_end, item.end);
      const std::size_t before = held_.size();
      if (ready.begin < ready.end) look_behind(i, ready, fills);
      if (held_.size() > before) ++found_.held;
    }
    found_.held_ns = covered(std::move(held_));
    return std::move(found_);
  }

 private:
  const std::vector<Interval>* waits_of(const WorkItem& item) const {
    const auto found = waits_.find({found_.stream.process, item.thread});
    return found == waits_.end() ? nullptr : &found->second;
  }
  bool counts(const WorkItem& item) const { return item.call && !is_backend_work(item) && waits_of(item) != nullptr; }

  /// Notes the parts of the time in which work of other threads held up the item, its thread waited, and the device had
  /// room for the item.
  void look_behind(std::size_t at, Interval time, Fills& fills) {
    const WorkItem& item = items_[at];
    for (std::size_t i = at; i-- > 0 && items_[i].end > time.begin;) {
      const WorkItem& other = items_[i];
      if (other.thread == item.thread || !counts(other)) continue;
      const Interval held{std::max(time.begin, other.start), std::min(time.end, other.end)};
      const auto note = [&](Interval part) { note_waited(*waits_of(item), part); };
      if (item.kernel != nullptr) {
        fills.each_with_room(item.device, fills.of(*item.kernel), held, note);
      } else if (other.kernel != nullptr || other.copy->kind != item.copy->kind) {
        note(held);
      }
    }
  }

  void note_waited(const std::vector<Interval>& waits, Interval time) {
    auto wait = std::ranges::lower_bound(waits, time.begin, {}, &Interval::end);
    for (; wait != waits.end() && wait->begin < time.end; ++wait) {
      const Interval part{std::max(wait->begin, time.begin), std::min(wait->end, time.end)};
      if (part.begin < part.end) held_.push_back(part);
    }
  }

  const std::vector<WorkItem>& items_;
  const ThreadWaits& waits_;
  SharedStream found_;
  std::vector<Interval> held_;
};

}  // namespace

std::vector<SharedStream> shared_streams(const TraceModel& model, const DeviceWork& work, Interval ground) {
  std::vector<SharedStream> all;
  const ThreadWaits waits = waits_of_threads(model);
  if (waits.size() < 2) return all;
  std::optional<Fills> fills;
  for (const auto& [stream, items] : work.by_stream) {
    StreamOrder order(stream, items, waits);
    if (!order.is_shared()) continue;
    if (!fills) fills.emplace(model);
    SharedStream found = order.found(*fills, ground);
    if (found.held_ns > 0) all.push_back(std::move(found));
  }
  std::ranges::sort(all, std::greater(), &SharedStream::held_ns);
  return all;
}

}  // namespace wicprof::analyzer
