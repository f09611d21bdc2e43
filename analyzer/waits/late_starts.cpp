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

/// What begins late by less is not looked at: a launch takes some 10 us.
constexpr TimeNs kLeast = 200 * kMicrosecond;
/// A device that had nothing to do for longer may first have to wake.
constexpr TimeNs kAwake = 50 * kMillisecond;

/// Calls by which streams wait for what is neither a kernel nor a copy.
constexpr std::array<std::string_view, 8> kHidden{"LaunchHostFunc", "StreamAddCallback", "StreamWaitValue",
                                                  "BatchMemOp",     "Prefetch",          "ExternalSem",
                                                  "IpcOpenEvent",   "GraphAddHostNode"};
constexpr std::array<std::string_view, 2> kCopies{"Memcpy", "Memset"};

bool has_any(std::string_view name, const auto& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

/// Other copies may be held up by the memory of the host.
bool stays_on_device(const WorkItem& item) {
  if (item.kernel != nullptr) return true;
  const CopyKind kind = (*item.copy).kind;
  return kind == CopyKind::memset || kind == CopyKind::device_to_device;
}

class Search {
 public:
  Search(const TraceModel& model, const DeviceWork& work) : model_(model) {
    for (const auto& [stream, items] : work.by_stream) streams_[stream.process].push_back({stream, &items});
    for (const store::DeviceRow& device : model.devices) clock_errors_[device.id] = device.clock_error_ns.value_or(0);
  }

  std::vector<LateStart> run() {
    for (const auto& [process, streams] : streams_) {
      for (const Stream& stream : streams) {
        const TimeNs least = kLeast + clock_errors_[stream.items->front().device];
        for (const WorkItem& item : *stream.items) {
          if (item.call && item.start - item.call->end >= least && stays_on_device(item) && !is_backend_work(item))
            take(streams, stream, item, least);
        }
      }
    }
    if (!found_.empty()) leave_out_hidden();
    std::ranges::sort(found_, {}, &LateStart::end);
    return std::move(found_);
  }

 private:
  struct Stream {
    StreamKey key;
    const std::vector<WorkItem>* items;
  };

  void take(const std::vector<Stream>& streams, const Stream& own, const WorkItem& item, TimeNs least) {
    TimeNs before = 0;  // the end of the work before
    for (const Stream& stream : streams) {
      const auto next = std::ranges::lower_bound(*stream.items, item.start, {}, &WorkItem::start);
      if (next != stream.items->begin()) before = std::max(before, std::prev(next)->end);
    }
    const TimeNs free = std::max(item.call->end, before);
    if (item.start - free < least || item.call->begin - before > kAwake) return;
    const std::uint32_t graph = item.kernel != nullptr ? (*item.kernel).graph : (*item.copy).graph;
    if (graph != 0 && before > item.call->begin) return;  // not the graph's first node
    const auto kernel = item.kernel != nullptr ? std::optional(item.kernel.index()) : std::nullopt;
    found_.push_back({own.key.process, own.key.context, item.device, kernel, free, item.start});
  }

  void leave_out_hidden() {
    std::unordered_map<const std::string*, bool> hidden;  // by name: equal names are one text
    std::set<store::ProcessId> out;
    for (const store::CallRow& call : model_.calls) {
      const auto [name, is_new] = hidden.try_emplace(&call.name.text());
      if (is_new) name->second = has_any(call.name, kHidden) || (model_.copies.empty() && has_any(call.name, kCopies));
      if (name->second) out.insert(call.process);
    }
    std::erase_if(found_, [&](const LateStart& start) { return out.contains(start.process); });
  }

  const TraceModel& model_;
  std::map<store::ProcessId, std::vector<Stream>> streams_;
  std::map<DeviceId, TimeNs> clock_errors_;
  std::vector<LateStart> found_;
};

}  // namespace

std::vector<LateStart> late_starts(const TraceModel& model, const DeviceWork& work) {
  return Search(model, work).run();
}

}  // namespace wicprof::analyzer
