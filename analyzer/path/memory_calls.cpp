#include "analyzer/path/memory_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {

namespace {

enum class MemoryCall { none, from_pool, allocates, frees };

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
  for (const char* const name :
       {"cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocAsync", "cuMemAllocFromPoolAsync"}) {
    if (call.starts_with(name)) return MemoryCall::from_pool;
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
  std::pair<store::ProcessId, DeviceId> last{0, kHostDevice};  // mostly the next one's, too
  for (const store::KernelRow& kernel : model.kernels) {
    if (const std::pair of{kernel.process, kernel.device}; of != last) {
      devices[kernel.process].insert(kernel.device);
      last = of;
    }
  }
  TimeNs counted_until = ground.begin;
  for (const store::CallRow& call : model.calls) {
    if (call.start < ground.begin || call.end > ground.end || call.end <= call.start) continue;
    const std::string_view name(call.name);
    const auto known = kinds.find(name);
    const MemoryCall kind = known != kinds.end() ? known->second : kinds.emplace(name, kind_of(name)).first->second;
    if (kind == MemoryCall::none) continue;
    const auto of_process = devices.find(call.process);
    if (of_process == devices.end()) continue;
    TimeNs& outer = outer_ends[{call.process, call.thread}];
    if (call.end <= outer) continue;  // the driver's part of a runtime call
    outer = call.end;
    if (kind == MemoryCall::from_pool) {
      ++sum.from_pools;
      continue;
    }
    const auto all_idle = [&](TimeNs begin) {
      TimeNs least = std::max<TimeNs>(0, call.end - begin);
      for (const DeviceId device : of_process->second) least = std::min(least, idle.within(device, {begin, call.end}));
      return least;
    };
    sum.idle_ns += all_idle(std::max(call.start, counted_until));
    counted_until = std::max(counted_until, call.end);
    if (kind == MemoryCall::allocates) {
      ++sum.allocations;
      sum.allocating_ns += call.end - call.start;
      continue;
    }
    ++sum.frees;
    sum.freeing_ns += call.end - call.start;
    sum.waiting_ns += call.end - call.start - all_idle(call.start);
    freeing[name] += call.end - call.start;
  }
  const auto longest = std::max_element(freeing.begin(), freeing.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest != freeing.end()) sum.free_call = longest->first;
  return sum;
}

}  // namespace wicprof::analyzer
