// Waits from the records of patched loops.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "collector/rewrite/wait_records.h"
#include "protocol/events/loss.h"
#include "protocol/strategy.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

using rewriter::kRecords;
using rewriter::Record;

class WaitRecordsTest : public ::testing::Test {
 protected:
  /// Writes a record as a device does; returns its number.
  void write(Record record) {
    const std::uint64_t number = next_++;
    record.number_plus_one = number + 1;
    record.check = 0;
    std::uint64_t words[8];
    std::memcpy(words, &record, sizeof record);
    for (const std::uint64_t word : words) record.check ^= word;
    ring_[number % kRecords] = record;
  }
  void begin(std::uint64_t at, std::uint32_t block = 7) {
    Record record{};
    record.site = 1 | Record::kKnowsValue;
    record.device_ns = at;
    record.address = 0x7f00'0000'1234;
    record.block = block;
    record.thread = 3 * 32 + 5;
    record.grid = 9;
    record.sm = 11;
    record.rounds = 32;
    write(record);
  }
  void end(std::uint64_t at, std::uint32_t flags = 0, std::uint32_t block = 7) {
    Record record{};
    record.site = 1 | Record::kEnd | Record::kKnowsValue | flags;
    record.device_ns = at;
    record.block = block;
    record.thread = 3 * 32 + 5;
    record.grid = 9;
    record.address = 0x7f00'0000'1234;
    record.value = 42;
    record.rounds = 500;
    write(record);
  }
  Delivered read() {
    {
      EventBatch batch(sink_);
      records_.read(batch);
    }
    return events_.read();
  }

  std::vector<Record> ring_ = std::vector<Record>(kRecords);
  std::uint64_t next_ = 0;
  PlainRing events_;
  EventSink sink_{events_.ring()};
  WaitRecords records_{ring_.data(), cuda_device(0), {{4096, StrategyId::pause}, {4097, StrategyId::watch}}};
};

TEST_F(WaitRecordsTest, AWaitIsWrittenAtItsEnd) {
  begin(1'000);
  EXPECT_TRUE(read().all<WaitEvent>().empty());
  ASSERT_EQ(records_.open().size(), 1u);
  EXPECT_EQ(records_.open().begin()->second.begin.device_ns, 1'000u);
  end(9'000, Record::kPaused);
  const Delivered delivered = read();
  ASSERT_EQ(delivered.all<WaitEvent>().size(), 1u);
  const WaitEvent wait = delivered.all<WaitEvent>()[0];
  EXPECT_EQ(wait.site, 4097u);
  EXPECT_EQ(wait.arrived_ns, 1'000u);
  EXPECT_EQ(wait.resumed_ns, 9'000u);
  EXPECT_EQ(wait.polls, 500u);
  EXPECT_EQ(wait.value, 42u);
  EXPECT_EQ(wait.block, 7u);
  EXPECT_EQ(wait.warp, 3u);
  EXPECT_EQ(wait.sm, 11u);
  EXPECT_EQ(wait.strategy, static_cast<std::uint8_t>(StrategyId::watch));  // as the site does
  EXPECT_NE(wait.word_tag, 0u);
  EXPECT_TRUE(records_.open().empty());
}

TEST_F(WaitRecordsTest, AHalfWrittenRecordIsReadWhenItIsComplete) {
  begin(1'000);
  end(9'000);
  const Record whole = ring_[1];
  ring_[1].device_ns = 0;  // not there yet
  EXPECT_TRUE(read().all<WaitEvent>().empty());
  ring_[1] = whole;
  EXPECT_EQ(read().all<WaitEvent>().size(), 1u);
}

TEST_F(WaitRecordsTest, WaitsOfManyThreadsOverlap) {
  for (std::uint32_t block = 0; block < 100; ++block) begin(1'000 + block, block);
  for (std::uint32_t block = 100; block-- > 0;) end(5'000 + block, 0, block);
  const Delivered delivered = read();
  ASSERT_EQ(delivered.all<WaitEvent>().size(), 100u);
  for (const WaitEvent& wait : delivered.all<WaitEvent>()) {
    EXPECT_EQ(wait.arrived_ns, 1'000 + wait.block);
    EXPECT_EQ(wait.resumed_ns, 5'000 + wait.block);
  }
}

TEST_F(WaitRecordsTest, OverwrittenRecordsAreCounted) {
  for (std::uint32_t i = 0; i < kRecords + 10; ++i) {
    begin(i);
    end(i + 1);
  }
  const Delivered delivered = read();
  std::uint64_t lost = 0;
  for (const LossEvent& loss : delivered.all<LossEvent>()) lost += loss.count;
  // The ring holds the last kRecords of 2 (kRecords + 10); the read begins behind those that are gone.
  EXPECT_EQ(lost, kRecords + 20);
  EXPECT_EQ(delivered.all<WaitEvent>().size(), kRecords / 2);
}

TEST_F(WaitRecordsTest, ForeignBytesAreNoWaits) {
  for (Record& record : ring_) std::memset(&record, 0xa5, sizeof record);
  EXPECT_TRUE(read().all<WaitEvent>().empty());
  Record record{};
  record.site = 77;  // the module has two sites
  std::memset(ring_.data(), 0, ring_.size() * sizeof(Record));
  write(record);
  EXPECT_TRUE(read().all<WaitEvent>().empty());
  EXPECT_TRUE(records_.open().empty());
}

}  // namespace
}  // namespace wicprof::collector
