#include "src/records/record_drain.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "wic/thread.h"

namespace wic {
namespace {

constexpr std::uint32_t kCapacity = 8;

// Writes the first `quads` quads of record `sequence` like a device, with the sequence in every payload word.
void write(std::vector<DeviceRecord>& records, std::uint32_t sequence, int quads = 4) {
  const simt::ThreadContext context{};
  const Thread thread(context);
  DeviceRecord& slot = records[sequence % kCapacity];
  for (int q = 0; q < quads; ++q) {
    thread.store_quad(&slot.quads[q], sequence, sequence, sequence, sequence / kCapacity + 1);
  }
}

struct Ring {
  std::vector<DeviceRecord> records = std::vector<DeviceRecord>(kCapacity);
  RecordDrain drain{records.data(), 1, kCapacity};
  std::vector<std::uint32_t> read() {
    std::vector<std::uint32_t> sequences;
    drain.drain([&](const DeviceRecord& r) { sequences.push_back(r.quads[3].payload[2]); });
    return sequences;
  }
};

TEST(RecordDrain, DeliversInOrderAndOnce) {
  Ring ring;
  EXPECT_TRUE(ring.read().empty());
  for (std::uint32_t i = 0; i < 3; ++i) write(ring.records, i);
  EXPECT_EQ(ring.read(), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(ring.read().empty());
  for (std::uint32_t i = 3; i < 11; ++i) write(ring.records, i);
  EXPECT_EQ(ring.read().size(), 8u);
  EXPECT_EQ(ring.drain.lost(), 0u);
}

TEST(RecordDrain, WaitsForARecordThatIsBeingWritten) {
  Ring ring;
  write(ring.records, 0, 2);
  write(ring.records, 1);
  EXPECT_TRUE(ring.read().empty());
  write(ring.records, 0);
  EXPECT_EQ(ring.read(), (std::vector<std::uint32_t>{0, 1}));
}

class Overwritten : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Overwritten, EveryRecordIsDeliveredOrCountedAsLost) {
  Ring ring;
  const std::uint32_t written = GetParam();
  for (std::uint32_t i = 0; i < written; ++i) write(ring.records, i);
  const std::vector<std::uint32_t> read = ring.read();
  ASSERT_EQ(read.size() + ring.drain.lost(), written);
  ASSERT_EQ(read.size(), std::min(written, kCapacity));
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], written - read.size() + i);
}
INSTANTIATE_TEST_SUITE_P(Laps, Overwritten, testing::Values(0, 1, 7, 8, 9, 15, 16, 17, 24, 25, 100, 1000));

TEST(RecordDrain, ClosingCountsUnfinishedRecords) {
  Ring ring;
  write(ring.records, 0);
  write(ring.records, 1, 3);  // claimed, never finished
  write(ring.records, 2);
  EXPECT_EQ(ring.read().size(), 1u);
  ring.drain.close({3});
  EXPECT_EQ(ring.drain.lost(), 2u);
}

// The writer of SM 0 has a new record ready whenever the last one was read.
TEST(RecordDrain, AFastWriterDoesNotKeepTheReaderFromOtherRings) {
  constexpr std::uint32_t kOther = 1'000'000;
  std::vector<DeviceRecord> records(2 * kCapacity), other(kCapacity);
  RecordDrain drain(records.data(), 2, kCapacity);
  write(other, 0);
  other[0].quads[3].payload[2] = kOther;
  records[kCapacity] = other[0];  // the first of SM 1
  std::uint32_t next = 0, of_other = 0;
  write(records, next++);
  drain.drain([&](const DeviceRecord& record) {
    if (record.quads[3].payload[2] == kOther) {
      ++of_other;
    } else if (next < 1'000 * kCapacity) {
      write(records, next++);
    }
  });
  EXPECT_EQ(of_other, 1u);
  EXPECT_LE(next, 4 * kCapacity);
  EXPECT_EQ(drain.lost(), 0u);
}

TEST(RecordDrain, AFastWriterNeverYieldsAMixedRecord) {
  Ring ring;
  constexpr std::uint32_t kRecords = 200'000;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kRecords; ++i) write(ring.records, i);
  });
  std::uint64_t delivered = 0;
  std::int64_t last = -1;
  bool mixed = false;
  const auto look = [&](const DeviceRecord& r) {
    const std::uint32_t sequence = r.quads[0].payload[0];
    for (const DeviceRecord::Quad& quad : r.quads) {
      for (const std::uint32_t word : quad.payload) mixed |= word != sequence;
    }
    mixed |= sequence <= last;
    last = sequence;
    ++delivered;
  };
  while (delivered + ring.drain.lost() < kRecords) ring.drain.drain(look);
  writer.join();
  EXPECT_FALSE(mixed);
  EXPECT_EQ(delivered + ring.drain.lost(), kRecords);
}

}  // namespace
}  // namespace wic
