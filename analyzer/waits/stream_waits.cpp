#include "analyzer/waits/stream_waits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

using Work = std::map<StreamKey, std::vector<WorkItem>>;

// When the work was requested; its start if the call is unknown. A stream runs its work in the order of the requests,
// so these times are in order too.
TimeNs requested(const WorkItem& item) { return item.call ? item.call->begin : item.start; }

std::vector<WorkItem>::const_iterator first_requested_after(const std::vector<WorkItem>& items, TimeNs at) {
  return std::partition_point(items.begin(), items.end(), [&](const WorkItem& item) { return requested(item) < at; });
}

const WorkItem* last_before(const Work& work, const StreamKey& stream, TimeNs at) {
  const auto items = work.find(stream);
  if (items == work.end()) return nullptr;
  const auto after = first_requested_after(items->second, at);
  return after == items->second.begin() ? nullptr : &*std::prev(after);
}

struct Idle {
  const WorkItem* next;  // the delayed work
  TimeNs time;
};

// How long the event alone delayed the stream's next work; empty if the stream has no work after the wait.
std::optional<Idle> idle_for(const Work& work, const StreamKey& stream, TimeNs wait_requested, TimeNs reached) {
  const auto items = work.find(stream);
  if (items == work.end()) return {};
  const auto next = first_requested_after(items->second, wait_requested);
  if (next == items->second.end()) return {};
  TimeNs ready = next->call ? next->call->end : wait_requested;
  if (next != items->second.begin()) ready = std::max(ready, std::prev(next)->end);
  return Idle{&*next, std::max<TimeNs>(0, std::min(reached, next->start) - ready)};
}

}  // namespace

StreamWaitTable stream_waits(const TraceModel& model) {
  const CallIndex calls(model);
  return stream_waits(model, calls, DeviceWork(model, calls));
}

StreamWaitTable stream_waits(const TraceModel& model, const CallIndex& calls, const DeviceWork& device_work) {
  StreamWaitTable table;
  const bool any = std::any_of(model.syncs.begin(), model.syncs.end(),
                               [](const auto& sync) { return sync.kind == SyncKind::stream_waits_for_event; });
  if (!any) return table;
  const Work& work = device_work.by_stream;
  std::map<std::pair<store::ProcessId, std::uint64_t>, const store::CudaEventRow*> recordings;
  for (const store::CudaEventRow& event : model.cuda_events) {
    if (event.event_sync) recordings[{event.process, *event.event_sync}] = &event;
  }

  std::map<std::tuple<StreamKey, StreamKey, std::string>, std::pair<StreamWaits, std::map<const WorkItem*, TimeNs>>>
      by_pair;
  for (const store::SyncRow& sync : model.syncs) {
    if (sync.kind != SyncKind::stream_waits_for_event || sync.result != 0 || !sync.stream) continue;
    const auto found = sync.event_sync ? recordings.find({sync.process, *sync.event_sync}) : recordings.end();
    if (found == recordings.end()) {
      ++table.without_event;
      continue;
    }
    const store::CudaEventRow& event = *found->second;
    const StreamKey waiter{sync.process, sync.context, *sync.stream};
    const StreamKey signaller{event.process, event.context, event.stream};
    if (waiter == signaller) continue;
    const auto recorded = calls.find(event.process, event.correlation);
    const WorkItem* behind = nullptr;
    if (recorded) {
      behind = last_before(work, signaller, recorded->span.begin);
    } else if (event.at) {
      behind = last_before(work, signaller, *event.at);
    }
    std::optional<TimeNs> reached = event.at;
    if (!reached && behind != nullptr) reached = behind->end;

    const std::string name = behind == nullptr ? std::string() : work_name(*behind);
    auto& [waits, by_next] = by_pair[{waiter, signaller, name}];
    waits.waiter = waiter;
    waits.signaller = signaller;
    waits.device = event.device < 0 && behind != nullptr ? behind->device : event.device;
    waits.behind = name;
    ++waits.count;
    const std::optional<Idle> idle = reached ? idle_for(work, waiter, sync.start, *reached) : std::nullopt;
    if (!idle) continue;
    // Several waits before the same work overlap in time, so only the longest counts.
    ++waits.timed;
    TimeNs& longest = by_next[idle->next];
    longest = std::max(longest, idle->time);
  }
  for (auto& [key, found] : by_pair) {
    auto& [waits, by_next] = found;
    std::vector<TimeNs> times;
    for (const auto& [next, time] : by_next) times.push_back(time);
    for (const TimeNs time : times) waits.idle_ns += time;
    waits.idle_p50_ns = percentile(times, 50);
    waits.idle_max_ns = percentile(times, 100);
    table.rows.push_back(std::move(waits));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const StreamWaits& a, const StreamWaits& b) { return a.idle_ns > b.idle_ns; });
  return table;
}

}  // namespace wicprof::analyzer
