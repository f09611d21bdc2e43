// From one record of CUPTI to one event. Pure: names come in as numbers, nothing goes out but the event.
//
// Nothing comes back for a record that says nothing usable: no times (CUPTI gives 0 where it could not collect them,
// and for a kernel that still ran when its buffer had to be handed over) or a device number that cannot be.
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
/// What the record does not say, and the driver does.
struct DeviceAttributes {
  bool host_native_atomics = false;
  std::uint32_t reserved_shared_bytes_per_block = 0;
};
std::optional<DeviceEvent> translate(const DeviceRecord& record, const DeviceTexts& texts,
                                     const DeviceAttributes& more);

std::optional<SyncEvent> translate(const SyncRecord& record, const Layouts& layouts);
/// `now`: a time of the device that is later is on some other clock, and is left out.
std::optional<CudaEventEvent> translate(const CudaEventRecord& record, const Layouts& layouts, TimeNs now);
std::optional<GraphEvent> translate(const GraphRecord& record);
/// `what`: the number of the text that overhead_name() has for it.
std::optional<OverheadEvent> translate(const OverheadRecord& record, const Layouts& layouts, TextId what);
std::string_view overhead_name(std::uint32_t kind);
/// `cause`: the number of the text uvm_cause(record).
std::optional<UvmEvent> translate(const UvmRecord& record, const Layouts& layouts, TextId cause);
/// Why memory migrated or was mapped, or how a fault touched it; empty where CUPTI does not say.
std::string_view uvm_cause(const UvmRecord& record);

/// Whether both are known and in order.
bool usable_times(std::uint64_t start_ns, std::uint64_t end_ns);

}  // namespace wicprof::collector
