#include "collector/translate/translate.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace wicprof::collector {

namespace {

bool usable_device(std::uint32_t id) { return id < static_cast<std::uint32_t>(kSimtDeviceBase); }

DeviceId device_of(std::uint32_t id) { return cuda_device(static_cast<int>(id)); }

// The same bit for copies and memsets.
constexpr unsigned kAsynchronous = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
static_assert(kAsynchronous == CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);

// For sizes that CUPTI stores as int.
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

CopyMemory copy_memory(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return CopyMemory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return CopyMemory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return CopyMemory::device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return CopyMemory::array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return CopyMemory::managed;
    default:
      return CopyMemory::unknown;
  }
}

SyncKind sync_kind(std::uint32_t type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return SyncKind::event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return SyncKind::stream_waits_for_event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return SyncKind::stream;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return SyncKind::context;
    default:
      return SyncKind::unknown;
  }
}

// Ids have 64 bits, but CUPTI may mark "none" with 32 one bits.
std::uint64_t event_sync(std::uint64_t id) {
  return id == CUPTI_SYNCHRONIZATION_INVALID_VALUE || id == ~std::uint64_t{0} ? 0 : id;
}

// The first GPU in the record's set of processors; the host if the set contains no GPU.
DeviceId first_processor(const UvmRecord& record, const Layouts& layouts) {
  if (!layouts.processors)
    return record.srcId == 0 ? kHostDevice : device_of(static_cast<std::uint32_t>(std::countr_zero(record.srcId)));
  for (std::uint32_t word = 0; word < std::size(record.processors); ++word) {
    const std::uint64_t set = record.processors[word];
    if (set != 0) return device_of(64 * word + static_cast<std::uint32_t>(std::countr_zero(set)));
  }
  return kHostDevice;
}

// CUPTI's number for the CPU is outside the range of device numbers.
DeviceId processor_of(std::uint32_t id) { return usable_device(id) ? device_of(id) : kHostDevice; }

// The fields that the three kinds of copy records share.
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
  event.asynchronous = (static_cast<unsigned>(record.flags) & kAsynchronous) != 0 ? 1 : 0;
  event.graph = record.graphId;
  event.graph_node = record.graphNodeId;
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
  event.shared_executed_bytes = record.sharedMemoryExecuted;
  event.local_bytes_per_thread = record.localMemoryPerThread;
  event.cluster[0] = record.clusterX;
  event.cluster[1] = record.clusterY;
  event.cluster[2] = record.clusterZ;
  event.graph = record.graphId;
  event.graph_node = record.graphNodeId;
  return event;
}

std::optional<CopyEvent> translate(const CopyRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  CopyEvent event = copy_event(record, copy_kind(record.copyKind));
  event.source = copy_memory(record.srcKind);
  event.destination = copy_memory(record.dstKind);
  return event;
}

std::optional<CopyEvent> translate(const PeerCopyRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId) ||
      !usable_device(record.srcDeviceId) || !usable_device(record.dstDeviceId)) {
    return std::nullopt;
  }
  CopyEvent event = copy_event(record, CopyKind::peer_to_peer);
  event.device = device_of(record.srcDeviceId);
  event.peer_device = device_of(record.dstDeviceId);
  event.source = copy_memory(record.srcKind);
  event.destination = copy_memory(record.dstKind);
  return event;
}

std::optional<CopyEvent> translate(const MemsetRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  CopyEvent event = copy_event(record, CopyKind::memset);
  event.destination = copy_memory(record.memoryKind);
  return event;
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

std::optional<DeviceEvent> translate(const DeviceRecord& record, const DeviceTexts& texts,
                                     const DeviceAttributes& more) {
  if (!usable_device(record.id)) return std::nullopt;
  DeviceEvent event = make_event<DeviceEvent>();
  event.device = device_of(record.id);
  event.name = texts.name;
  event.memory_bytes = record.globalMemorySize;
  event.sm_count = record.numMultiprocessors;
  event.compute_major = static_cast<std::uint16_t>(record.computeCapabilityMajor);
  event.compute_minor = static_cast<std::uint16_t>(record.computeCapabilityMinor);
  event.kind = DeviceKind::cuda;
  event.host_native_atomics = more.host_native_atomics ? 1 : 0;
  event.uuid = texts.uuid;
  event.max_threads_per_sm = record.maxWarpsPerMultiprocessor * record.numThreadsPerWarp;
  event.max_blocks_per_sm = record.maxBlocksPerMultiprocessor;
  event.registers_per_sm = record.maxRegistersPerMultiprocessor;
  event.shared_bytes_per_sm = record.maxSharedMemoryPerMultiprocessor;
  event.reserved_shared_bytes_per_block = more.reserved_shared_bytes_per_block;
  event.clock_khz = record.coreClockRate;
  return event;
}

std::optional<SyncEvent> translate(const SyncRecord& record, const Layouts& layouts) {
  if (!usable_times(record.start, record.end)) return std::nullopt;
  SyncEvent event = make_event<SyncEvent>();
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.context = record.contextId;
  event.stream = record.streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? SyncEvent::kNoStream : record.streamId;
  event.event = record.cudaEventId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : record.cudaEventId;
  event.correlation = record.correlationId;
  event.kind = sync_kind(raw(record, &SyncRecord::type));
  if (layouts.event_sync) {
    event.event_sync = event_sync(record.cudaEventSyncId);
    event.result = static_cast<std::int32_t>(record.returnValue);
  }
  return event;
}

std::optional<CudaEventEvent> translate(const CudaEventRecord& record, const Layouts& layouts) {
  if (layouts.event_sync && !usable_device(record.deviceId)) return std::nullopt;
  CudaEventEvent event = make_event<CudaEventEvent>();
  event.device = kHostDevice;
  event.event = record.eventId;
  event.context = record.contextId;
  event.stream = record.streamId;
  event.correlation = record.correlationId;
  if (layouts.event_sync) {
    event.device = device_of(record.deviceId);
    event.event_sync = event_sync(record.cudaEventSyncId);
  }
  return event;
}

std::optional<GraphEvent> translate(const GraphRecord& record) {
  if (!usable_times(record.start, record.end) || !usable_device(record.deviceId)) return std::nullopt;
  GraphEvent event = make_event<GraphEvent>();
  event.device = device_of(record.deviceId);
  event.graph = record.graphId;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.context = record.contextId;
  event.stream = record.streamId;
  event.correlation = record.correlationId;
  return event;
}

KernelEvent as_work(const GraphEvent& launch, TextId name) {
  KernelEvent event = make_event<KernelEvent>();
  event.device = launch.device;
  event.name = name;
  event.start_ns = launch.start_ns;
  event.end_ns = launch.end_ns;
  event.context = launch.context;
  event.stream = launch.stream;
  event.correlation = launch.correlation;
  event.graph = launch.graph;
  return event;
}

std::string_view overhead_name(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "CUPTI resources";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "activity buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "managed memory activity start";
    default:
      return "unknown";
  }
}

std::optional<OverheadEvent> translate(const OverheadRecord& record, const Layouts& layouts, TextId what) {
  if (!usable_times(record.start, record.end)) return std::nullopt;
  OverheadEvent event = make_event<OverheadEvent>();
  event.what = what;
  event.thread =
      raw(record, &OverheadRecord::objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD ? record.objectId.pt.threadId : 0;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(record.end);
  event.correlation = layouts.overhead_correlation ? record.correlationId : 0;
  return event;
}

namespace {

std::string_view access_name(std::uint32_t type) {
  switch (type) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ:
      return "read";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE:
      return "write";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC:
      return "atomic";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH:
      return "prefetch";
    default:
      return {};
  }
}

std::string_view migration_name(std::uint32_t cause) {
  switch (cause) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER:
      return "user";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE:
      return "coherence";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH:
      return "prefetch";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION:
      return "eviction";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_ACCESS_COUNTERS:
      return "access counters";
    default:
      return {};
  }
}

std::string_view map_name(std::uint32_t cause) {
  switch (cause) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_COHERENCE:
      return "coherence";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_THRASHING:
      return "thrashing";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_POLICY:
      return "policy";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_OUT_OF_MEMORY:
      return "out of memory";
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_EVICTION:
      return "eviction";
    default:
      return {};
  }
}

}  // namespace

std::string_view uvm_cause(const UvmRecord& record) {
  switch (raw(record, &UvmRecord::counterKind)) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
      return access_name(record.flags);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      return migration_name(record.flags);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
      return map_name(record.flags);
    default:
      return {};
  }
}

std::optional<UvmEvent> translate(const UvmRecord& record, const Layouts& layouts, TextId cause) {
  UvmEvent event = make_event<UvmEvent>();
  std::uint64_t end = record.start;  // record.end is meaningless for kinds without a duration
  event.count = 1;
  switch (raw(record, &UvmRecord::counterKind)) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
      event.kind = UvmKind::cpu_fault;
      event.device = event.peer_device = kHostDevice;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
      event.kind = UvmKind::gpu_fault;
      event.device = event.peer_device = processor_of(record.srcId);
      event.count = record.value;
      end = record.end;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      event.kind = UvmKind::host_to_device;
      event.device = processor_of(record.dstId);
      event.peer_device = kHostDevice;
      event.bytes = record.value;
      end = record.end;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      event.kind = UvmKind::device_to_host;
      event.device = kHostDevice;
      event.peer_device = processor_of(record.srcId);
      event.bytes = record.value;
      end = record.end;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      event.kind = UvmKind::device_to_device;
      event.device = processor_of(record.dstId);
      event.peer_device = processor_of(record.srcId);
      event.bytes = record.value;
      end = record.end;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING:
      event.kind = UvmKind::thrashing;
      event.device = event.peer_device =
          (record.flags & CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU) != 0 ? kHostDevice : first_processor(record, layouts);
      event.bytes = record.value;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING:
      event.kind = UvmKind::throttling;
      event.device = event.peer_device =
          (record.flags & CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU) != 0 ? kHostDevice : processor_of(record.srcId);
      end = record.end;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
      event.kind = UvmKind::remote_map;
      event.device = processor_of(record.dstId);
      event.peer_device = processor_of(record.srcId);
      event.bytes = record.value;
      break;
    default:
      return std::nullopt;
  }
  if (!usable_times(record.start, end)) return std::nullopt;
  event.address = record.address;
  event.start_ns = static_cast<std::int64_t>(record.start);
  event.end_ns = static_cast<std::int64_t>(end);
  event.cause = cause;
  return event;
}

}  // namespace wicprof::collector
