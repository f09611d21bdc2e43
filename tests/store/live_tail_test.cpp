// Reads a trace while another thread writes it.
#include <atomic>
#include <set>
#include <thread>

#include "tests/store/support.h"

namespace wicprof::store {
namespace {

TEST(LiveTail, SeesEveryRowOnceAndTheRecorderCanStillFinish) {
  constexpr std::uint32_t kWaits = 60'000;
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->meta()->at("state"), "recording");

  std::atomic<bool> finished{false};
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kWaits; ++i) {
      recorder->add(0, wait_event(i).header);
      recorder->tick();
    }
    EXPECT_TRUE(recorder->finish());
    finished = true;
  });

  std::vector<std::uint32_t> seen;
  RowId last = 0;
  const auto look = [&] {
    const auto rows = reader->rows<WaitTable>(last);
    ASSERT_TRUE(rows) << rows.error().message;
    for (const WaitRow& row : *rows) {
      ASSERT_GT(row.id, last);
      seen.push_back(row.iteration);
    }
    for (const WaitRow& row : *rows) last = std::max(last, row.id);
  };
  while (!finished) look();
  writer.join();
  look();
  ASSERT_EQ(seen.size(), kWaits);
  for (std::uint32_t i = 0; i < kWaits; ++i) ASSERT_EQ(seen[i], i);
  EXPECT_EQ(reader->meta()->at("state"), "complete");
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
}

TEST(LiveTail, TickShowsABatchOnceItIsOld) {
  const TempFolder folder;
  Result<Recorder> recorder = Recorder::create(options_for(folder / "trace.wicprof"));
  ASSERT_TRUE(recorder);
  const Result<Reader> reader = Reader::open(folder / "trace.wicprof");
  ASSERT_TRUE(reader) << reader.error().message;
  recorder->add(0, wait_event(1).header);
  EXPECT_TRUE(reader->rows<WaitTable>()->empty());
  const TimeNs end = now_ns() + 20 * kSecond;
  while (reader->rows<WaitTable>()->empty() && now_ns() < end) recorder->tick();
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 1u);
  EXPECT_EQ(stat_value(*reader, "waits"), 1);
}

TEST(LiveTail, CountersAreWrittenWithoutAnyRow) {
  const TempFolder folder;
  Result<Recorder> recorder = Recorder::create(options_for(folder / "trace.wicprof"));
  ASSERT_TRUE(recorder);
  const Result<Reader> reader = Reader::open(folder / "trace.wicprof");
  ASSERT_TRUE(reader);
  recorder->set_ring_dropped(0, 12, 0);
  recorder->set_meta(store::MetaKey::app_status, "3");
  const TimeNs end = now_ns() + 20 * kSecond;
  while (stat_value(*reader, "ring_dropped") == 0 && now_ns() < end) recorder->tick();
  EXPECT_EQ(stat_value(*reader, "ring_dropped"), 12);
  EXPECT_EQ(reader->meta()->at("app_status"), "3");
}

}  // namespace
}  // namespace wicprof::store
