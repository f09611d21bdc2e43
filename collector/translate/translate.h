// Translates one CUPTI record to one event. Pure functions: texts are passed as ids, and the event is the only result.
//
// The result is empty for an unusable record: one without times (CUPTI writes 0 if it could not collect them, and for a
// kernel still running when its buffer was delivered) or with an impossible device number.
#pragma once

#include <optional>
#include <string_view>

#include "collector/cupti/records.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/device.h"
#include "protocol/events/graph.h"
#include "protocol/events/kernel.h"
#include "protocol/events/overhead.h"
#include "protocol/events/sync.h"
#include "protocol/events/uvm.h"
#include "protocol/time.h"

namespace wicprof::collector {

std::optional<KernelEvent> translate(const KernelRecord& record, TextId name);
std::optional<CopyEvent> translate(const CopyRecord& record);
std::optional<CopyEvent> translate(const PeerCopyRecord& record);
std::optional<CopyEvent> translate(const MemsetRecord& record);
std::optional<CallEvent> translate(const CallRecord& record, TextId name);

struct DeviceTexts {
  TextId name = 0;
  TextId uuid = 0;
};
/// Attributes that the driver knows and the record lacks.
struct DeviceAttributes {
  bool host_native_atomics = false;
  std::uint32_t reserved_shared_bytes_per_block = 0;
};
std::optional<DeviceEvent> translate(const DeviceRecord& record, const DeviceTexts& texts,
                                     const DeviceAttributes& more);

std::optional<SyncEvent> translate(const SyncRecord& record, const Layouts& layouts);
std::optional<CudaEventEvent> translate(const CudaEventRecord& record, const Layouts& layouts);
std::optional<GraphEvent> translate(const GraphRecord& record);
/// The launch as one kernel without blocks: it keeps its device busy like kernels.
KernelEvent as_work(const GraphEvent& launch, TextId name);
/// `what`: the id of the text overhead_name(kind).
std::optional<OverheadEvent> translate(const OverheadRecord& record, const Layouts& layouts, TextId what);
std::string_view overhead_name(std::uint32_t kind);
/// `cause`: the id of the text uvm_cause(record).
std::optional<UvmEvent> translate(const UvmRecord& record, const Layouts& layouts, TextId cause);
/// The reason for a migration or mapping, or the access that faulted; empty if CUPTI does not report it.
std::string_view uvm_cause(const UvmRecord& record);

/// Whether both times are known and in order.
bool usable_times(std::uint64_t start_ns, std::uint64_t end_ns);

}  // namespace wicprof::collector
