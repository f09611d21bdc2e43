#include "analyzer/waits/late_starts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wicprof::analyzer {

namespace {

/// A device that had nothing to do for longer may first have to wake.
constexpr TimeNs kAwake = 50 * kMillisecond;

/// Calls by which streams wait for what is neither a kernel nor a copy.
constexpr std::array<std::string_view, 3> kHostFunctions{"LaunchHostFunc", "StreamAddCallback", "GraphAddHostNode"};
constexpr std::array<std::string_view, 5> kHidden{"StreamWaitValue", "BatchMemOp", "Prefetch", "ExternalSem",
                                                  "IpcOpenEvent"};
constexpr std::array<std::string_view, 2> kCopies{"Memcpy", "Memset"};

bool has_any(std::string_view name, const auto& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

/// Copies to the host may be held up by its memory. Those from the host whose call has returned are not: their bytes
/// are where the device reads them.
bool waits_for_device_alone(const WorkItem& item) {
  return item.kernel != nullptr || item.copy->kind == CopyKind::memset ||
         item.copy->kind == CopyKind::device_to_device || item.copy->kind == CopyKind::host_to_device;
}

class Search {
 public:
  explicit Search(const TraceModel& model) : model_(model) {}

  std::vector<LateStart> run(const DeviceWork& work) {
    std::map<DeviceId, TimeNs> clock_errors;
    for (const store::DeviceRow& device : model_.devices) clock_errors[device.id] = device.clock_error_ns.value_or(0);
    std::vector<Launch> launches;
    for (const auto& [stream, items] : work.by_stream) {
      const TimeNs least = kLeastLateStart + clock_errors[items.front().device];
      TimeNs before = 0;
      for (const WorkItem& item : items) {
        if (item.call && item.start - std::max(item.call->end, before) >= least && waits_for_device_alone(item) &&
            !is_backend_work(item)) {
          launches.push_back({&stream, &item, least});
        }
        before = std::max(before, item.end);
      }
    }
    if (launches.empty()) return {};
    std::ranges::stable_sort(launches, {}, [](const Launch& launch) { return launch.item->start; });
    for (const Launch& launch : launches) take(launch, end_before(launch.stream->process, launch.item->start));
    if (!found_.empty()) leave_out_hidden();
    return std::move(found_);
  }

 private:
  struct Launch {
    const StreamKey* stream;
    const WorkItem* item;
    TimeNs least;
  };

  /// When the work of the process that began before `start` has ended, on all devices. Later calls have later starts.
  TimeNs end_before(store::ProcessId process, TimeNs start) {
    const auto pass = [&](const auto& rows, std::size_t& next) {
      for (; next < rows.size() && rows[next].start < start; ++next) {
        TimeNs& end = ends_[rows[next].process];
        end = std::max<TimeNs>(end, rows[next].end);
      }
    };
    pass(model_.kernels, next_kernel_);
    pass(model_.copies, next_copy_);
    return ends_[process];
  }

  void take(const Launch& launch, TimeNs before) {
    const WorkItem& item = *launch.item;
    const TimeNs free = std::max(item.call->end, before);
    if (item.start - free < launch.least || item.call->begin - before > kAwake) return;
    const std::uint32_t graph = item.kernel != nullptr ? item.kernel->graph : item.copy->graph;
    if (graph != 0 && before > item.call->begin) return;  // not the graph's first node
    const auto kernel = item.kernel != nullptr ? std::optional(item.kernel.index()) : std::nullopt;
    found_.push_back({launch.stream->process, launch.stream->context, item.device, kernel, free, item.start});
  }

  void leave_out_hidden() {
    std::unordered_map<const std::string*, bool> hidden;  // by name: equal names are one text
    std::set<store::ProcessId> out;
    for (const store::CallRow& call : model_.calls) {
      const auto [name, is_new] = hidden.try_emplace(&call.name.text());
      if (is_new)
        name->second = has_any(call.name, kHidden) || has_any(call.name, kHostFunctions) ||
                       (model_.copies.empty() && has_any(call.name, kCopies));
      if (name->second) out.insert(call.process);
    }
    std::erase_if(found_, [&](const LateStart& start) { return out.contains(start.process); });
  }

  const TraceModel& model_;
  std::unordered_map<store::ProcessId, TimeNs> ends_;
  std::size_t next_kernel_ = 0, next_copy_ = 0;  // rows
  std::vector<LateStart> found_;
};

}  // namespace

std::uint64_t host_functions(const TraceModel& model) {
  std::unordered_map<const std::string*, bool> puts;  // by name
  std::uint64_t count = 0;
  std::uint32_t last = 0;  // of a runtime call, whose driver call has the same
  for (const store::CallRow& call : model.calls) {
    const auto [name, is_new] = puts.try_emplace(&call.name.text());
    if (is_new) name->second = has_any(call.name, kHostFunctions);
    if (!name->second || (last != 0 && call.correlation == last)) continue;
    last = call.correlation;
    ++count;
  }
  return count;
}

bool behind_host_functions(const TraceModel& model, std::uint64_t times) {
  return times > 0 && 2 * host_functions(model) >= times;
}

std::vector<LateStart> late_starts(const TraceModel& model, const DeviceWork& work) { return Search(model).run(work); }

}  // namespace wicprof::analyzer
