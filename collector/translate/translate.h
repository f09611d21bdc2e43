// From one record of CUPTI to one event. Pure: names come in as numbers, nothing goes out but the event.
//
// Nothing comes back for a record that says nothing usable: no times (CUPTI gives 0 where it could not collect them,
// and for a kernel that still ran when its buffer had to be handed over) or a device number that cannot be.
#pragma once

#include <optional>

#include "collector/translate/records.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/kernel.h"

namespace wicprof::collector {

std::optional<KernelEvent> translate(const KernelRecord& record, TextId name);
std::optional<CopyEvent> translate(const CopyRecord& record);
std::optional<CopyEvent> translate(const PeerCopyRecord& record);
std::optional<CopyEvent> translate(const MemsetRecord& record);
std::optional<CallEvent> translate(const CallRecord& record, TextId name);
std::optional<DeviceEvent> translate(const DeviceRecord& record, TextId name, bool host_native_atomics);

/// Whether both are known and in order.
bool usable_times(std::uint64_t start_ns, std::uint64_t end_ns);

}  // namespace wicprof::collector
