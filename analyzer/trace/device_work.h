// Kernels and copies alike: work on a stream, with the call that asked for it.
#pragma once

#include <compare>
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
  TimeNs start = 0, end = 0;
  std::optional<CallSpan> call;              ///< that asked for it, where it was recorded
  const store::KernelRow* kernel = nullptr;  ///< nullptr for a copy
  const store::CopyRow* copy = nullptr;
};

/// Of each stream, in order of the work's start. Points into the model, which must outlive it. Work without times is
/// left out.
std::map<StreamKey, std::vector<WorkItem>> work_by_stream(const TraceModel& model, const CallIndex& calls);

/// The calls of a trace and the work that they asked for, worked out once for all that needs them. Points into the
/// model.
struct DeviceWork {
  explicit DeviceWork(const TraceModel& model) : calls(model), by_stream(work_by_stream(model, calls)) {}
  CallIndex calls;
  std::map<StreamKey, std::vector<WorkItem>> by_stream;
};

/// Whether the backend launched it for itself, to compare clocks: the program does not wait for that.
bool is_of_backend(const WorkItem& item);

/// For people: "copy host to device", "memset".
std::string_view copy_kind_name(CopyKind kind);
/// The kernel's name, or copy_kind_name().
std::string work_name(const WorkItem& item);

}  // namespace wicprof::analyzer
