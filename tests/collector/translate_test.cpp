#include "collector/translate/translate.h"

#include <gtest/gtest.h>

#include <limits>

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
  return record;
}

TEST(Translate, Kernel) {
  const auto event = translate(kernel(), 17);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->header.kind, EventKind::kernel);
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
}

TEST(Translate, AKernelWithoutTimesIsNoKernel) {
  KernelRecord record = kernel();
  record.end = 0;  // still running when its buffer was forced out
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
  record.end = record.start;  // too short for the clock, but known
  EXPECT_TRUE(translate(record, 1));
}

TEST(Translate, AbsurdSizesDoNotTurnIntoOthers) {
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

TEST(Translate, ADeviceNumberThatWouldMeanAnotherKindOfDeviceIsRefused) {
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

TEST(Translate, PeerCopyGoesFromSourceToDestination) {
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
  const auto event = translate(record, 6, true);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->device, cuda_device(1));
  EXPECT_EQ(event->name, 6u);
  EXPECT_EQ(event->memory_bytes, std::uint64_t{139} << 30);
  EXPECT_EQ(event->sm_count, 132u);
  EXPECT_EQ(event->compute_major, 9u);
  EXPECT_EQ(event->compute_minor, 0u);
  EXPECT_EQ(event->kind, DeviceKind::cuda);
  EXPECT_EQ(event->host_native_atomics, 1u);
  record.id = 1'000'000;
  EXPECT_FALSE(translate(record, 6, true));
}

}  // namespace
}  // namespace wicprof::collector
