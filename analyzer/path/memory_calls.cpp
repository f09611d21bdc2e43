#include "analyzer/path/memory_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {

namespace {

enum class MemoryCall { none, allocates, frees };

/// Names are those of CUPTI, without versions for the runtime ("cudaFree"), with them for the driver ("cuMemFree_v2").
MemoryCall kind_of(std::string_view call) {
  for (const char* const name : {"cudaFree", "cudaFreeHost", "cudaFreeArray", "cudaHostUnregister", "cuMemFree",
                                 "cuMemFree_v2", "cuMemFreeHost", "cuMemHostUnregister", "cuMemUnmap"}) {
    if (call == name) return MemoryCall::frees;
  }
  for (const char* const name : {"cudaMalloc", "cudaMallocHost", "cudaHostAlloc", "cudaHostRegister", "cudaMallocPitch",
                                 "cudaMallocManaged", "cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocHost_v2",
                                 "cuMemHostRegister_v2", "cuMemAllocManaged", "cuMemCreate"}) {
    if (call == name) return MemoryCall::allocates;
  }
  return MemoryCall::none;
}

}  // namespace

MemoryCalls memory_calls(const TraceModel& model, const IdleTimes& idle, Interval ground) {
  MemoryCalls sum;
  std::map<store::ProcessId, std::set<DeviceId>> devices;
  std::map<std::pair<store::ProcessId, std::uint32_t>, TimeNs> outer_ends;
  std::map<std::string_view, TimeNs> freeing;
  std::map<std::string_view, MemoryCall> kinds;
  for (const store::CallRow& call : model.calls) {
    if (call.start < ground.begin || call.end > ground.end || call.end <= call.start) continue;
    const std::string_view name(call.name);
    const auto known = kinds.find(name);
    const MemoryCall kind = known != kinds.end() ? known->second : kinds.emplace(name, kind_of(name)).first->second;
    if (kind == MemoryCall::none) continue;
    TimeNs& outer = outer_ends[{call.process, call.thread}];
    if (call.end <= outer) continue;  // the driver's part of a runtime call
    outer = call.end;
    if (devices.empty()) {
      for (const store::KernelRow& kernel : model.kernels) devices[kernel.process].insert(kernel.device);
    }
    TimeNs nothing = call.end - call.start;
    for (const DeviceId device : devices[call.process]) {
      nothing = std::min(nothing, idle.within(device, {call.start, call.end}));
    }
    sum.idle_ns += nothing;
    if (kind == MemoryCall::allocates) {
      ++sum.allocations;
      sum.allocating_ns += call.end - call.start;
      continue;
    }
    ++sum.frees;
    sum.freeing_ns += call.end - call.start;
    sum.waiting_ns += call.end - call.start - nothing;
    freeing[name] += call.end - call.start;
  }
  const auto longest = std::max_element(freeing.begin(), freeing.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest != freeing.end()) sum.free_call = longest->first;
  return sum;
}

}  // namespace wicprof::analyzer
