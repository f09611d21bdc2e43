#include "analyzer/path/work_index.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "analyzer/measure/sorting.h"

namespace wicprof::analyzer {
namespace {

/// Kernels that began earlier and may still run. The search gives up after this many.
constexpr int kMaxTries = 64;

std::uint64_t sync_key(store::ProcessId process, std::uint32_t correlation) {
  return (std::uint64_t{process} << 32) | correlation;
}

}  // namespace

std::uint64_t blocks_of(const store::KernelRow& kernel) {
  if (kernel.is_graph()) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
}

WorkIndex::WorkIndex(const TraceModel& model, const DeviceWork& work) {
  for (const auto& [stream, items] : work.by_stream) {
    auto& of_process = by_process_[stream.process];
    auto& of_stream = by_stream_[stream];
    for (const WorkItem& item : items) {
      if (is_backend_work(item)) continue;
      of_process.push_back(&item);
      of_stream.push_back(&item);
      if (item.kernel != nullptr) kernels_[item.device].push_back(&item);
    }
  }
  for (const store::DeviceRow& device : model.devices) {
    if (device.clock_error_ns) clock_errors_[device.id] = *device.clock_error_ns;
  }
  const auto ends_earlier = [](const WorkItem* a, const WorkItem* b) { return a->end < b->end; };
  for (auto& [process, items] : by_process_) sort_if_needed(items, ends_earlier);
  for (auto& [stream, items] : by_stream_) sort_if_needed(items, ends_earlier);
  for (auto& [device, items] : kernels_) {
    sort_if_needed(items, [](const auto* a, const auto* b) { return a->start < b->start; });
  }
  for (const store::CudaEventRow& event : model.cuda_events) {
    if (event.event_sync) recordings_[{event.process, *event.event_sync}] = &event;
  }
  for (const store::SyncRow& sync : model.syncs) {
    syncs_[sync_key(sync.process, sync.correlation)] = &sync;
    if (sync.kind == SyncKind::stream_waits_for_event && sync.stream) {
      stream_waits_[{sync.process, sync.context, *sync.stream}].push_back(&sync);
    }
  }
}

const WorkItem* WorkIndex::kernel_at(DeviceId device, TimeNs time, std::uint32_t block) const {
  Near near;
  return kernel_at(device, time, block, near);
}

const WorkItem* WorkIndex::kernel_at(DeviceId device, TimeNs time, std::uint32_t block, Near& near) const {
  if (near.kernels == nullptr || near.device != device) {
    const auto found = kernels_.find(device);
    if (found == kernels_.end()) return nullptr;
    near = {device, &found->second, 0};
  }
  const ByStart& list = *near.kernels;
  const auto last = list.begin() + static_cast<std::ptrdiff_t>(near.place);
  auto at = partition_near(list.begin(), last, list.end(), [&](const WorkItem* k) { return k->start < time; });
  near.place = static_cast<std::size_t>(at - list.begin());
  const WorkItem* ended_last = nullptr;  // of the kernels with that block that ended before the time
  for (int tried = 0; at != list.begin() && tried < kMaxTries; ++tried) {
    --at;
    if (block >= blocks_of(*(*at)->kernel)) continue;
    if ((*at)->end >= time) return *at;
    if (ended_last == nullptr || (*at)->end > ended_last->end) ended_last = *at;
  }
  // A block runs inside a kernel. The time and the kernel's end both come from the device's clock.
  const auto error = clock_errors_.find(device);
  if (ended_last == nullptr || error == clock_errors_.end()) return nullptr;
  return time - ended_last->end <= 2 * error->second ? ended_last : nullptr;
}

const WorkItem* WorkIndex::waited_for(const WaitingCall& call) const {
  const ByEnd* list = nullptr;
  if (call.correlation) {
    const auto sync = syncs_.find(sync_key(call.process, *call.correlation));
    if (sync != syncs_.end()) list = waited_stream(*sync->second);
  }
  if (list == nullptr) {
    const auto all = by_process_.find(call.process);
    if (all == by_process_.end()) return nullptr;
    list = &all->second;
  }
  const auto after = std::upper_bound(list->begin(), list->end(), call.end,
                                      [](TimeNs t, const WorkItem* work) { return t < work->end; });
  if (after == list->begin() || (*std::prev(after))->end <= call.begin) return nullptr;
  return *std::prev(after);
}

const WorkIndex::ByEnd* WorkIndex::waited_stream(const store::SyncRow& sync) const {
  std::optional<StreamKey> stream;
  if (sync.kind == SyncKind::stream && sync.stream) stream = {sync.process, sync.context, *sync.stream};
  if (sync.kind == SyncKind::event && sync.event_sync) {
    const auto recorded = recordings_.find({sync.process, *sync.event_sync});
    if (recorded != recordings_.end()) {
      stream = {recorded->second->process, recorded->second->context, recorded->second->stream};
    }
  }
  if (!stream) return nullptr;
  const auto list = by_stream_.find(*stream);
  return list == by_stream_.end() ? nullptr : &list->second;
}

const WorkItem* WorkIndex::work_before(const WorkItem& item) const {
  const store::ProcessId process = item.kernel != nullptr ? item.kernel->process : item.copy->process;
  const StreamKey stream = item.kernel != nullptr ? StreamKey{process, item.kernel->context, item.kernel->stream}
                                                  : StreamKey{process, item.copy->context, item.copy->stream};
  const WorkItem* before = last_ended(stream, item.start, &item);
  const auto waits = stream_waits_.find(stream);
  if (waits == stream_waits_.end() || !item.call) return before;
  const auto after = std::upper_bound(waits->second.begin(), waits->second.end(), item.call->begin,
                                      [](TimeNs t, const store::SyncRow* sync) { return t < sync->start; });
  if (after == waits->second.begin()) return before;
  const store::SyncRow& sync = **std::prev(after);
  const auto recorded = sync.event_sync ? recordings_.find({sync.process, *sync.event_sync}) : recordings_.end();
  if (recorded == recordings_.end()) return before;
  const store::CudaEventRow& event = *recorded->second;
  const WorkItem* other = last_ended({event.process, event.context, event.stream}, item.start, &item);
  if (other != nullptr && (before == nullptr || other->end > before->end)) return other;
  return before;
}

const WorkItem* WorkIndex::last_ended(const StreamKey& stream, TimeNs time, const WorkItem* except) const {
  const auto found = by_stream_.find(stream);
  if (found == by_stream_.end()) return nullptr;
  const auto& list = found->second;
  auto after =
      std::upper_bound(list.begin(), list.end(), time, [](TimeNs t, const WorkItem* work) { return t < work->end; });
  while (after != list.begin() && *std::prev(after) == except) --after;
  return after == list.begin() ? nullptr : *std::prev(after);
}

}  // namespace wicprof::analyzer
