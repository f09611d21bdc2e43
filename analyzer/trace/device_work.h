// Kernels and copies as one kind of row: work on a stream, with the call that requested it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/call_index.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct StreamKey {
  store::ProcessId process = 0;
  std::uint32_t context = 0, stream = 0;
  auto operator<=>(const StreamKey&) const = default;
};

struct WorkItem {
  DeviceId device = 0;
  std::uint32_t thread = 0;  ///< that made the call, if it was recorded
  TimeNs start = 0, end = 0;
  std::optional<CallSpan> call;       ///< the call that requested the work, if it was recorded
  store::KernelList::Pointer kernel;  ///< nullptr for a copy
  store::CopyList::Pointer copy;      ///< nullptr for a kernel
};

/// The work of a trace's devices, computed once and shared by all analyses. Points into the model, which must outlive
/// it.
struct DeviceWork {
  explicit DeviceWork(const TraceModel& model) : DeviceWork(model, CallIndex(model)) {}
  DeviceWork(const TraceModel& model, const CallIndex& calls);

  /// The work of each stream, in order of its start, without work that has no times.
  std::map<StreamKey, std::vector<WorkItem>> by_stream;
  bool any_calls;  ///< whether the trace holds calls that may request work
};

/// Whether the WIC backend launched it, to compare clocks; the program does not wait for such work.
bool is_backend_work(const WorkItem& item);
bool is_backend_work(const store::KernelRow& kernel);

/// For reports: "copy host to device", "memset".
std::string_view copy_kind_name(CopyKind kind);
/// The kernel's name, or copy_kind_name().
std::string work_name(const WorkItem& item);

}  // namespace wicprof::analyzer
