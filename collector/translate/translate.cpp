#include "collector/translate/translate.h"

#include <algorithm>
#include <limits>

namespace wicprof::collector {

namespace {

bool usable_device(std::uint32_t id) { return id < static_cast<std::uint32_t>(kSimtDeviceBase); }

DeviceId device_of(std::uint32_t id) { return cuda_device(static_cast<int>(id)); }

// Sizes that CUPTI counts as int.
std::uint32_t at_least_zero(std::int32_t value) { return static_cast<std::uint32_t>(std::max(value, 0)); }

CopyKind copy_kind(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::host_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::device_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return CopyKind::device_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyKind::host_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::peer_to_peer;
    default:
      return CopyKind::unknown;
  }
}

// What the three records of copying have under the same names.
template <class Record>
CopyEvent copy_event(const Record& record, CopyKind kind) {
  CopyEvent event = make_event<CopyEvent>();
  event.device = device_of(record.deviceId);
  event.peer_device = event.device;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.bytes = record.bytes;
  event.context = record.contextId;
  event.stream = record.streamId;
  event.correlation = record.correlationId;
  event.kind = kind;
  return event;
}

}  // namespace

bool usable_times(std::uint64_t start_ns, std::uint64_t end_ns) {
  return start_ns != 0 && end_ns >= start_ns &&
         end_ns <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

std::optional<KernelEvent> translate(const KernelRecord& record, TextId name) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  KernelEvent event = make_event<KernelEvent>();
  event.device = device_of(record.deviceId);
  event.name = name;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.context = record.contextId;
  event.stream = record.streamId;
  event.correlation = record.correlationId;
  event.grid[0] = at_least_zero(record.gridX);
  event.grid[1] = at_least_zero(record.gridY);
  event.grid[2] = at_least_zero(record.gridZ);
  event.block[0] = at_least_zero(record.blockX);
  event.block[1] = at_least_zero(record.blockY);
  event.block[2] = at_least_zero(record.blockZ);
  event.registers_per_thread = record.registersPerThread;
  event.static_shared_bytes = at_least_zero(record.staticSharedMemory);
  event.dynamic_shared_bytes = at_least_zero(record.dynamicSharedMemory);
  return event;
}

std::optional<CopyEvent> translate(const CopyRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  return copy_event(record, copy_kind(record.copyKind));
}

std::optional<CopyEvent> translate(const PeerCopyRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId) ||
      !usable_device(record.srcDeviceId) || !usable_device(record.dstDeviceId)) {
    return std::nullopt;
  }
  CopyEvent event = copy_event(record, CopyKind::peer_to_peer);
  event.device = device_of(record.srcDeviceId);
  event.peer_device = device_of(record.dstDeviceId);
  return event;
}

std::optional<CopyEvent> translate(const MemsetRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  return copy_event(record, CopyKind::memset);
}

std::optional<CallEvent> translate(const CallRecord& record, TextId name) {
  if (!usable_times(record.start, record.end)) return std::nullopt;
  CallEvent event = make_event<CallEvent>();
  event.name = name;
  event.thread = record.threadId;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.correlation = record.correlationId;
  event.result = static_cast<std::int32_t>(record.returnValue);
  event.api = record.kind == CUPTI_ACTIVITY_KIND_DRIVER ? CallApi::driver : CallApi::runtime;
  return event;
}

std::optional<DeviceEvent> translate(const DeviceRecord& record, TextId name, bool host_native_atomics) {
  if (!usable_device(record.id)) return std::nullopt;
  DeviceEvent event = make_event<DeviceEvent>();
  event.device = device_of(record.id);
  event.name = name;
  event.memory_bytes = record.globalMemorySize;
  event.sm_count = record.numMultiprocessors;
  event.compute_major = static_cast<std::uint16_t>(record.computeCapabilityMajor);
  event.compute_minor = static_cast<std::uint16_t>(record.computeCapabilityMinor);
  event.kind = DeviceKind::cuda;
  event.host_native_atomics = host_native_atomics ? 1 : 0;
  return event;
}

}  // namespace wicprof::collector
