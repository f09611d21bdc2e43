#include "collector/translate/translate.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string_view>

namespace wicprof::collector {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

KernelRecord kernel() {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1'000;
  record.end = 3'000;
  record.deviceId = 2;
  record.contextId = 5;
  record.streamId = 7;
  record.correlationId = 99;
  record.gridX = 132, record.gridY = 2, record.gridZ = 3;
  record.blockX = 256, record.blockY = 4, record.blockZ = 1;
  record.registersPerThread = 40;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 2048;
  record.sharedMemoryExecuted = 102'400;
  record.localMemoryPerThread = 64;
  record.clusterX = 2, record.clusterY = 1, record.clusterZ = 4;
  record.graphId = 12;
  record.graphNodeId = 0x1'0000'0007;
  return record;
}

TEST(Translate, Kernel) {
  const auto event = translate(kernel(), 17);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->header.kind, KernelEvent::kKind);
  EXPECT_EQ(event->header.size, sizeof(KernelEvent));
  EXPECT_EQ(event->name, 17u);
  EXPECT_EQ(event->device, 2);
  EXPECT_EQ(event->start_ns, 1'000);
  EXPECT_EQ(event->end_ns, 3'000);
  EXPECT_EQ(event->context, 5u);
  EXPECT_EQ(event->stream, 7u);
  EXPECT_EQ(event->correlation, 99u);
  EXPECT_EQ(event->grid[0], 132u);
  EXPECT_EQ(event->grid[1], 2u);
  EXPECT_EQ(event->grid[2], 3u);
  EXPECT_EQ(event->block[0], 256u);
  EXPECT_EQ(event->block[1], 4u);
  EXPECT_EQ(event->block[2], 1u);
  EXPECT_EQ(event->registers_per_thread, 40u);
  EXPECT_EQ(event->static_shared_bytes, 1024u);
  EXPECT_EQ(event->dynamic_shared_bytes, 2048u);
  EXPECT_EQ(event->shared_executed_bytes, 102'400u);
  EXPECT_EQ(event->local_bytes_per_thread, 64u);
  EXPECT_EQ(event->cluster[0], 2u);
  EXPECT_EQ(event->cluster[1], 1u);
  EXPECT_EQ(event->cluster[2], 4u);
  EXPECT_EQ(event->graph, 12u);
  EXPECT_EQ(event->graph_node, 0x1'0000'0007u);
}

TEST(Translate, AKernelWithoutTimesIsUnusable) {
  KernelRecord record = kernel();
  record.end = 0;  // still running at a forced flush
  EXPECT_FALSE(translate(record, 1));
  record = kernel();
  record.start = record.end = 0;
  EXPECT_FALSE(translate(record, 1));
  record = kernel();
  record.end = record.start - 1;
  EXPECT_FALSE(translate(record, 1));
  record = kernel();
  record.end = kHuge;
  EXPECT_FALSE(translate(record, 1));
  record = kernel();
  record.end = record.start;  // shorter than the clock's resolution, but valid
  EXPECT_TRUE(translate(record, 1));
}

TEST(Translate, NegativeSizesBecomeZero) {
  KernelRecord record = kernel();
  record.gridX = -1;
  record.blockX = std::numeric_limits<std::int32_t>::min();
  record.dynamicSharedMemory = -5;
  const auto event = translate(record, 0);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->grid[0], 0u);
  EXPECT_EQ(event->block[0], 0u);
  EXPECT_EQ(event->dynamic_shared_bytes, 0u);
}

TEST(Translate, RefusesDeviceNumbersOutsideCudasRange) {
  KernelRecord record = kernel();
  record.deviceId = static_cast<std::uint32_t>(kSimtDeviceBase);
  EXPECT_FALSE(translate(record, 1));
  record.deviceId = std::numeric_limits<std::uint32_t>::max();
  EXPECT_FALSE(translate(record, 1));
}

template <class Record>
Record copy_record() {
  Record record{};
  record.start = 10;
  record.end = 20;
  record.bytes = 4096;
  record.deviceId = 1;
  record.contextId = 2;
  record.streamId = 3;
  record.correlationId = 4;
  record.graphId = 5;
  record.graphNodeId = 6;
  record.flags = 1;
  return record;
}

void expect_common(const std::optional<CopyEvent>& event) {
  ASSERT_TRUE(event);
  EXPECT_EQ(event->start_ns, 10);
  EXPECT_EQ(event->end_ns, 20);
  EXPECT_EQ(event->bytes, 4096u);
  EXPECT_EQ(event->context, 2u);
  EXPECT_EQ(event->stream, 3u);
  EXPECT_EQ(event->correlation, 4u);
  EXPECT_EQ(event->graph, 5u);
  EXPECT_EQ(event->graph_node, 6u);
  EXPECT_EQ(event->asynchronous, 1u);
}

TEST(Translate, EveryKindOfCopy) {
  const std::pair<CUpti_ActivityMemcpyKind, CopyKind> kinds[] = {
      {CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN, CopyKind::unknown},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CopyKind::host_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CopyKind::device_to_host},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, CopyKind::host_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, CopyKind::device_to_host},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, CopyKind::device_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, CopyKind::device_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, CopyKind::device_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CopyKind::device_to_device},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CopyKind::host_to_host},
      {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, CopyKind::peer_to_peer},
  };
  for (const auto& [from, to] : kinds) {
    CopyRecord record = copy_record<CopyRecord>();
    record.copyKind = static_cast<std::uint8_t>(from);
    const auto event = translate(record);
    expect_common(event);
    EXPECT_EQ(event->kind, to);
    EXPECT_EQ(event->device, 1);
    EXPECT_EQ(event->peer_device, 1);
  }
  CopyRecord record = copy_record<CopyRecord>();
  record.copyKind = 200;
  EXPECT_EQ(translate(record)->kind, CopyKind::unknown);
}

TEST(Translate, EveryKindOfMemoryThatIsCopied) {
  const std::pair<CUpti_ActivityMemoryKind, CopyMemory> kinds[] = {
      {CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN, CopyMemory::unknown},
      {CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, CopyMemory::pageable},
      {CUPTI_ACTIVITY_MEMORY_KIND_PINNED, CopyMemory::pinned},
      {CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, CopyMemory::device},
      {CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, CopyMemory::array},
      {CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, CopyMemory::managed},
      {CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC, CopyMemory::device},
      {CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC, CopyMemory::managed},
  };
  for (const auto& [from, to] : kinds) {
    CopyRecord copy = copy_record<CopyRecord>();
    copy.srcKind = static_cast<std::uint8_t>(from);
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    EXPECT_EQ(translate(copy)->source, to);
    EXPECT_EQ(translate(copy)->destination, CopyMemory::pinned);
    PeerCopyRecord peer = copy_record<PeerCopyRecord>();
    peer.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    peer.dstKind = static_cast<std::uint8_t>(from);
    EXPECT_EQ(translate(peer)->source, CopyMemory::device);
    EXPECT_EQ(translate(peer)->destination, to);
    MemsetRecord memset = copy_record<MemsetRecord>();
    memset.memoryKind = static_cast<std::uint16_t>(from);
    EXPECT_EQ(translate(memset)->source, CopyMemory::unknown);
    EXPECT_EQ(translate(memset)->destination, to);
  }
  CopyRecord synchronous = copy_record<CopyRecord>();
  synchronous.flags = 0;
  EXPECT_EQ(translate(synchronous)->asynchronous, 0u);
}

TEST(Translate, APeerCopyHasSourceAndDestination) {
  PeerCopyRecord record = copy_record<PeerCopyRecord>();
  record.srcDeviceId = 3;
  record.dstDeviceId = 1;
  const auto event = translate(record);
  expect_common(event);
  EXPECT_EQ(event->kind, CopyKind::peer_to_peer);
  EXPECT_EQ(event->device, 3);
  EXPECT_EQ(event->peer_device, 1);
  record.dstDeviceId = 1'000'000;
  EXPECT_FALSE(translate(record));
}

TEST(Translate, Memset) {
  const auto event = translate(copy_record<MemsetRecord>());
  expect_common(event);
  EXPECT_EQ(event->kind, CopyKind::memset);
}

TEST(Translate, Call) {
  CallRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.start = 100;
  record.end = 250;
  record.threadId = 4242;
  record.correlationId = 8;
  record.returnValue = 700;
  auto event = translate(record, 3);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->name, 3u);
  EXPECT_EQ(event->thread, 4242u);
  EXPECT_EQ(event->start_ns, 100);
  EXPECT_EQ(event->end_ns, 250);
  EXPECT_EQ(event->correlation, 8u);
  EXPECT_EQ(event->result, 700);
  EXPECT_EQ(event->api, CallApi::runtime);
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  EXPECT_EQ(translate(record, 3)->api, CallApi::driver);
  record.end = 0;
  EXPECT_FALSE(translate(record, 3));
}

TEST(Translate, Device) {
  DeviceRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.id = 1;
  record.globalMemorySize = std::uint64_t{139} << 30;
  record.numMultiprocessors = 132;
  record.computeCapabilityMajor = 9;
  record.computeCapabilityMinor = 0;
  record.numThreadsPerWarp = 32;
  record.maxWarpsPerMultiprocessor = 64;
  record.maxBlocksPerMultiprocessor = 32;
  record.maxRegistersPerMultiprocessor = 65'536;
  record.maxSharedMemoryPerMultiprocessor = 233'472;
  record.coreClockRate = 1'980'000;
  const auto event = translate(record, DeviceTexts{6, 7}, DeviceAttributes{true, 1024});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->device, cuda_device(1));
  EXPECT_EQ(event->name, 6u);
  EXPECT_EQ(event->uuid, 7u);
  EXPECT_EQ(event->memory_bytes, std::uint64_t{139} << 30);
  EXPECT_EQ(event->sm_count, 132u);
  EXPECT_EQ(event->compute_major, 9u);
  EXPECT_EQ(event->compute_minor, 0u);
  EXPECT_EQ(event->kind, DeviceKind::cuda);
  EXPECT_EQ(event->host_native_atomics, 1u);
  EXPECT_EQ(event->max_threads_per_sm, 2'048u);
  EXPECT_EQ(event->max_blocks_per_sm, 32u);
  EXPECT_EQ(event->registers_per_sm, 65'536u);
  EXPECT_EQ(event->shared_bytes_per_sm, 233'472u);
  EXPECT_EQ(event->reserved_shared_bytes_per_block, 1'024u);
  EXPECT_EQ(event->clock_khz, 1'980'000u);
  record.id = 1'000'000;
  EXPECT_FALSE(translate(record, DeviceTexts{}, DeviceAttributes{}));
}

SyncRecord sync_record() {
  SyncRecord record{};
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  record.start = 100;
  record.end = 250;
  record.correlationId = 8;
  record.contextId = 2;
  record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = 17;
  record.cudaEventSyncId = 0x1'0000'0003;
  record.returnValue = 600;
  return record;
}

TEST(Translate, Synchronization) {
  const auto event = translate(sync_record(), Layouts{});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, SyncKind::event);
  EXPECT_EQ(event->start_ns, 100);
  EXPECT_EQ(event->end_ns, 250);
  EXPECT_EQ(event->correlation, 8u);
  EXPECT_EQ(event->context, 2u);
  EXPECT_EQ(event->stream, SyncEvent::kNoStream);
  EXPECT_EQ(event->event, 17u);
  EXPECT_EQ(event->event_sync, 0x1'0000'0003u);
  EXPECT_EQ(event->result, 600);
  const auto older = translate(sync_record(), layouts_of(24));
  ASSERT_TRUE(older);
  EXPECT_EQ(older->event, 17u);
  EXPECT_EQ(older->event_sync, 0u);
  EXPECT_EQ(older->result, 0);
  SyncRecord record = sync_record();
  record.end = 0;
  EXPECT_FALSE(translate(record, Layouts{}));
}

TEST(Translate, EveryKindOfSynchronization) {
  const std::pair<std::uint32_t, SyncKind> kinds[] = {
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN, SyncKind::unknown},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, SyncKind::event},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, SyncKind::stream_waits_for_event},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, SyncKind::stream},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, SyncKind::context},
      {1'000, SyncKind::unknown},
  };
  for (const auto& [from, to] : kinds) {
    SyncRecord record = sync_record();
    record.type = static_cast<CUpti_ActivitySynchronizationType>(from);
    EXPECT_EQ(translate(record, Layouts{})->kind, to) << from;
  }
}

TEST(Translate, ASynchronizationWithoutAnEventHasNone) {
  for (const std::uint64_t none : {std::uint64_t{0xffff'ffff}, kHuge}) {
    SyncRecord record = sync_record();
    record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    record.streamId = 7;
    record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    record.cudaEventSyncId = none;
    const auto event = translate(record, Layouts{});
    ASSERT_TRUE(event);
    EXPECT_EQ(event->stream, 7u);
    EXPECT_EQ(event->event, 0u);
    EXPECT_EQ(event->event_sync, 0u);
  }
}

TEST(Translate, CudaEvent) {
  CudaEventRecord record{};
  record.correlationId = 8;
  record.contextId = 2;
  record.streamId = 7;
  record.eventId = 17;
  record.deviceId = 3;
  record.cudaEventSyncId = 99;
  auto event = translate(record, Layouts{});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->device, 3);
  EXPECT_EQ(event->event, 17u);
  EXPECT_EQ(event->event_sync, 99u);
  EXPECT_EQ(event->at_ns, 0);
  EXPECT_EQ(event->context, 2u);
  EXPECT_EQ(event->stream, 7u);
  EXPECT_EQ(event->correlation, 8u);
  event = translate(record, layouts_of(24));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->device, kHostDevice);
  EXPECT_EQ(event->event, 17u);
  EXPECT_EQ(event->event_sync, 0u);
  record.deviceId = 1'000'000;
  EXPECT_FALSE(translate(record, Layouts{}));
}

TEST(Translate, Graph) {
  GraphRecord record{};
  record.start = 100;
  record.end = 250;
  record.deviceId = 1;
  record.graphId = 4;
  record.contextId = 2;
  record.streamId = 7;
  record.correlationId = 8;
  const auto event = translate(record);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->device, 1);
  EXPECT_EQ(event->graph, 4u);
  EXPECT_EQ(event->start_ns, 100);
  EXPECT_EQ(event->end_ns, 250);
  EXPECT_EQ(event->context, 2u);
  EXPECT_EQ(event->stream, 7u);
  EXPECT_EQ(event->correlation, 8u);
  record.end = 0;
  EXPECT_FALSE(translate(record));
}

TEST(Translate, Overhead) {
  OverheadRecord record{};
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 4'242;
  record.start = 100;
  record.end = 250;
  record.correlationId = 8;
  auto event = translate(record, Layouts{}, 5);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->what, 5u);
  EXPECT_EQ(event->thread, 4'242u);
  EXPECT_EQ(event->start_ns, 100);
  EXPECT_EQ(event->end_ns, 250);
  EXPECT_EQ(event->correlation, 8u);
  EXPECT_EQ(translate(record, layouts_of(19), 5)->correlation, 0u);
  record.objectKind = CUPTI_ACTIVITY_OBJECT_CONTEXT;
  EXPECT_EQ(translate(record, Layouts{}, 5)->thread, 0u);
  record.start = 0;
  EXPECT_FALSE(translate(record, Layouts{}, 5));
}

TEST(Translate, EveryOverheadHasADistinctName) {
  std::set<std::string_view> names{overhead_name(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER)};
  for (std::uint32_t kind = 1; kind <= 8; ++kind) names.insert(overhead_name(kind << 16));
  EXPECT_EQ(names.size(), 9u);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(overhead_name(9 << 16), "unknown");
}

UvmRecord uvm_record(CUpti_ActivityUnifiedMemoryCounterKind kind) {
  UvmRecord record{};
  record.counterKind = kind;
  record.value = 65'536;
  record.start = 100;
  record.end = 250;
  record.address = 0x7f00'0000'1000;
  record.srcId = 1;
  record.dstId = 2;
  record.processors[1] = 1u << 3;
  return record;
}

TEST(Translate, EveryKindOfManagedMemory) {
  struct Expected {
    CUpti_ActivityUnifiedMemoryCounterKind from;
    UvmKind to;
    DeviceId device;
    DeviceId peer;
    std::uint64_t bytes;
    std::uint64_t count;
    std::int64_t end;
  };
  const Expected all[] = {
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, UvmKind::cpu_fault, -1, -1, 0, 1, 100},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, UvmKind::gpu_fault, 1, 1, 0, 65'536, 250},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, UvmKind::host_to_device, 2, -1, 65'536, 1, 250},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, UvmKind::device_to_host, -1, 1, 65'536, 1, 250},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, UvmKind::device_to_device, 2, 1, 65'536, 1, 250},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, UvmKind::thrashing, 67, 67, 65'536, 1, 100},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, UvmKind::throttling, 1, 1, 0, 1, 250},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, UvmKind::remote_map, 2, 1, 65'536, 1, 100},
  };
  for (const Expected& expected : all) {
    const auto event = translate(uvm_record(expected.from), Layouts{}, 9);
    ASSERT_TRUE(event) << expected.from;
    EXPECT_EQ(event->kind, expected.to) << expected.from;
    EXPECT_EQ(event->device, expected.device) << expected.from;
    EXPECT_EQ(event->peer_device, expected.peer) << expected.from;
    EXPECT_EQ(event->bytes, expected.bytes) << expected.from;
    EXPECT_EQ(event->count, expected.count) << expected.from;
    EXPECT_EQ(event->start_ns, 100) << expected.from;
    EXPECT_EQ(event->end_ns, expected.end) << expected.from;
    EXPECT_EQ(event->address, 0x7f00'0000'1000u) << expected.from;
    EXPECT_EQ(event->cause, 9u) << expected.from;
  }
  EXPECT_FALSE(translate(uvm_record(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN), Layouts{}, 0));
  UvmRecord record = uvm_record(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
  record.srcId = 1u << 2;
  EXPECT_EQ(translate(record, layouts_of(24), 0)->device, 2);  // its set of devices is in another field
  record.flags = CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU;
  EXPECT_EQ(translate(record, Layouts{}, 0)->device, kHostDevice);
  record = uvm_record(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
  record.srcId = 0x8000'0000;  // the CPU
  EXPECT_EQ(translate(record, Layouts{}, 0)->peer_device, kHostDevice);
}

TEST(Translate, CausesOfManagedMemoryEvents) {
  const auto cause = [](CUpti_ActivityUnifiedMemoryCounterKind kind, std::uint32_t flags) {
    UvmRecord record = uvm_record(kind);
    record.flags = flags;
    return uvm_cause(record);
  };
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 3), "atomic");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, 2), "write");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 1), "user");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 4), "eviction");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, 5), "access counters");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, 4), "out of memory");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 77), "");
  EXPECT_EQ(cause(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, 1), "");
}

}  // namespace
}  // namespace wicprof::collector
