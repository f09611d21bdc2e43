// Which rows a trace keeps if only a part of a run is captured.
#include "store/write/retention.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "protocol/events/cuda_event.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/process.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

KernelEvent kernel(TimeNs start, TimeNs end) {
  KernelEvent event = make_event<KernelEvent>();
  event.device = 0;
  event.start_ns = start;
  event.end_ns = end;
  return event;
}

NvtxEvent range(TextId name, TextId domain, TimeNs start, TimeNs end, std::uint32_t thread = 1) {
  NvtxEvent event = make_event<NvtxEvent>();
  event.name = name;
  event.domain = domain;
  event.start_ns = start;
  event.end_ns = end;
  event.thread = thread;
  return event;
}

class RetentionTest : public testing::Test {
 protected:
  Recorder make(const RetentionPlan& plan) {
    RecorderOptions options = options_for(path());
    options.retention = plan;
    Result<Recorder> recorder = Recorder::create(options);
    if (!recorder) std::abort();
    return *std::move(recorder);
  }
  std::string path() const { return folder / "trace.wicprof"; }
  std::vector<std::int64_t> starts() const {
    std::vector<std::int64_t> all;
    const Result<Reader> reader = Reader::open(path());
    if (!reader) return all;
    for (const KernelRow& row : *reader->rows<KernelTable>()) all.push_back(row.start);
    return all;
  }
  std::int64_t left_out() const { return stat_value(*Reader::open(path()), "rows_left_out"); }

  TempFolder folder;
};

using Starts = std::vector<std::int64_t>;

TEST_F(RetentionTest, AFixedWindowKeepsOverlappingRows) {
  RetentionPlan plan;
  plan.from = 1000;
  plan.until = 2000;
  Recorder recorder = make(plan);
  for (const auto& [start, end] :
       {std::pair{100, 999}, {100, 1000}, {1200, 1300}, {1900, 5000}, {2000, 2100}, {2001, 2100}, {500, 9000}}) {
    recorder.add(0, kernel(start, end).header);
  }
  ProcessEvent process = make_event<ProcessEvent>();
  process.pid = 7;
  process.seen_ns = 1;
  recorder.add(0, process.header);
  ASSERT_TRUE(recorder.finish());
  Starts kept = starts();
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (Starts{100, 500, 1200, 1900, 2000}));
  EXPECT_EQ(left_out(), 2);
  Database database;
  ASSERT_EQ(database.open(path(), OpenMode::read_only), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM process"), 1);  // a declaration
}

TEST_F(RetentionTest, TheWindowMayBeSetLater) {
  Recorder recorder = make({});
  recorder.set_capture_window(10, 20);
  recorder.add(0, kernel(1, 5).header);
  recorder.add(0, kernel(12, 15).header);
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(starts(), Starts{12});
}

TEST_F(RetentionTest, TheLastSecondsEndWithTheRecording) {
  RetentionPlan plan;
  plan.keep_last = 100;
  Recorder recorder = make(plan);
  recorder.add(0, kernel(1000, 1800).header);
  recorder.add(0, kernel(1000, 1900).header);
  recorder.add(0, kernel(1950, 1960).header);
  recorder.set_meta(store::MetaKey::ended_ns, "2000");
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(starts(), (Starts{1000, 1950}));
  EXPECT_EQ(left_out(), 1);
}

TEST_F(RetentionTest, RangesByNameAndDomain) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}, {"load", "data"}, {"plain", ""}};
  Recorder recorder = make(plan);
  recorder.add(0, Text(1, "step").header());
  recorder.add(0, Text(2, "load").header());
  recorder.add(0, Text(3, "data").header());
  recorder.add(0, Text(4, "plain").header());
  recorder.add(0, Text(5, "other").header());
  for (const NvtxEvent& event :
       {range(1, 3, 100, 200), range(2, 3, 300, 400), range(2, 0, 500, 600), range(4, 0, 700, 800),
        range(4, 3, 900, 1000), range(5, 0, 0, 2000), range(1, 0, 150, 250)}) {
    recorder.add(0, event.header);
  }
  for (TimeNs at = 50; at < 1100; at += 100) recorder.add(0, kernel(at, at + 10).header);
  recorder.add(0, kernel(210, 220).header);
  recorder.add(0, kernel(10, 1500).header);
  ASSERT_TRUE(recorder.finish());
  Starts kept = starts();
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (Starts{10, 150, 210, 250, 350, 750}));
  const Result<Reader> reader = Reader::open(path());
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader->meta())["capture_windows"], "3");
  EXPECT_EQ(reader->rows<NvtxTable>()->size(), 5u);  // those ranges, and the ones that overlap them
}

TEST_F(RetentionTest, ARangeWithoutEndLastsToTheEnd) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  Recorder recorder = make(plan);
  recorder.add(0, Text(1, "step").header());
  NvtxOpenEvent open = make_event<NvtxOpenEvent>();
  open.name = 1;
  open.start_ns = 100;
  open.thread = 1;
  recorder.add(0, open.header);
  open.start_ns = 20;
  recorder.add(0, open.header);
  recorder.add(0, range(1, 0, 20, 30).header);  // that one ends
  for (const TimeNs at : {10, 25, 50, 150, 1'000'000}) recorder.add(0, kernel(at, at).header);
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(starts(), (Starts{25, 150, 1'000'000}));
}

TEST_F(RetentionTest, AnOpenRangeEndsWithItsProcess) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  Recorder recorder = make(plan);
  recorder.add(0, Text(1, "step").header());
  NvtxOpenEvent open = make_event<NvtxOpenEvent>();
  open.name = 1;
  open.start_ns = 100;
  open.thread = 1;
  recorder.add(0, open.header);
  recorder.forget_ring(0);
  const TimeNs later = now_ns() + 3600 * kSecond;
  for (const TimeNs at : {TimeNs{50}, TimeNs{150}, later}) recorder.add(0, kernel(at, at).header);
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(starts(), Starts{150});
}

TEST_F(RetentionTest, RowsWithoutTimeAreInside) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  Recorder recorder = make(plan);
  recorder.add(0, make_event<CudaEventEvent>().header);
  ASSERT_TRUE(recorder.finish());
  Database database;
  ASSERT_EQ(database.open(path(), OpenMode::read_only), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM cuda_event WHERE at_ns IS NULL"), 1);
}

TEST_F(RetentionTest, AnOpenRangeEndsAfterManyOthers) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  Retention retention(plan);
  retention.range_opened(0, 1, "step", "", 20'000'000);
  for (int i = 0; i < 10'000; ++i) retention.range_ended(0, 2, "step", "", i * 1000, i * 1000 + 10);
  retention.range_ended(0, 1, "step", "", 20'000'000, 20'000'010);
  retention.range_ended(0, 2, "step", "", 20'000'020, 20'000'030);
  EXPECT_EQ(retention.windows(), 10'002u);
}

TEST_F(RetentionTest, WithoutAMatchingRangeOnlyDeclarationsAreKept) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  Recorder recorder = make(plan);
  for (const TimeNs at : {10, 25}) recorder.add(0, kernel(at, at).header);
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(starts(), Starts{});
}

// Calls per second, as from a recorder, on a simulated clock.
class SecondBySecond : public RetentionTest {
 protected:
  void open(const RetentionPlan& plan) {
    writer.emplace(*Writer::open(path(), false));
    retention.emplace(plan);
  }
  void add(TimeNs start, TimeNs end) {
    const std::string row = std::to_string(start) + "," + std::to_string(end);
    ASSERT_EQ(
        writer->run("INSERT INTO call (name_id, api, thread, start_ns, end_ns, correlation, result) VALUES (1, 0, 1, " +
                    row + ", 1, 0)"),
        0)
        << writer->message();
  }
  void second() {
    now += kSecond;
    EXPECT_TRUE(retention->due(now));
    ASSERT_EQ(writer->begin(), 0);
    EXPECT_EQ(retention->remove_some(*writer, now, removed), 0) << writer->message();
    ASSERT_EQ(writer->commit(), 0);
    EXPECT_FALSE(retention->due(now));
  }
  std::int64_t count() { return writer->integer("SELECT count(*) FROM call"); }

  std::optional<Writer> writer;
  std::optional<Retention> retention;
  TimeNs now = 100 * kSecond;
  std::uint64_t removed = 0;
};

TEST_F(SecondBySecond, KeepLastKeepsTheFileSmall) {
  RetentionPlan plan;
  plan.keep_last = 3 * kSecond;
  open(plan);
  const auto add_many = [&] {
    ASSERT_EQ(writer->begin(), 0);
    for (int i = 0; i < 2000; ++i) add(now + i, now + i + 1);
    ASSERT_EQ(writer->commit(), 0);
  };
  for (int s = 0; s < 10; ++s) {
    add_many();
    second();
  }
  const std::int64_t pages = writer->integer("PRAGMA page_count");
  for (int s = 0; s < 50; ++s) {
    add_many();
    second();
    EXPECT_LE(count(), 10'000);
    EXPECT_GE(count(), 6'000);
  }
  EXPECT_LE(writer->integer("PRAGMA page_count"), pages + pages / 4);
  EXPECT_EQ(removed, static_cast<std::uint64_t>(60 * 2000 - count()));
}

TEST_F(SecondBySecond, IdsContinueAfterAPause) {
  RetentionPlan plan;
  plan.keep_last = 2 * kSecond;
  open(plan);
  for (int i = 0; i < 10; ++i) add(now, now);
  for (int s = 0; s < 10; ++s) second();
  EXPECT_EQ(count(), 1);  // the newest stays until the end, so that no id is used twice
  add(now, now);
  EXPECT_EQ(writer->integer("SELECT max(id) FROM call"), 11);
  second();
  second();
  EXPECT_EQ(writer->integer("SELECT max(id) FROM call"), 11);
}

// A recording of ranges would grow by each event of CUDA, whose times are unknown.
TEST_F(SecondBySecond, RowsWithoutTimeGoWhereNoRangeIsNear) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  plan.range_patience = 2 * kSecond;
  open(plan);
  const auto pass = [&](int seconds) {
    for (int s = 0; s < seconds; ++s) {
      ASSERT_EQ(writer->run("INSERT INTO cuda_event (process_id, device_id, event, context, stream, correlation) "
                            "VALUES (1, 1, 1, 1, 1, 1)"),
                0);
      second();
    }
  };
  const auto events = [&] { return writer->integer("SELECT count(*) FROM cuda_event"); };
  pass(20);
  EXPECT_LE(events(), 4);
  retention->range_opened(0, 1, "step", "", now);
  pass(3);
  retention->range_ended(0, 1, "step", "", now - 3 * kSecond, now);
  pass(20);
  EXPECT_GE(events(), 3);  // of the range
  EXPECT_LE(events(), 3 + 4 + 4);
}

TEST_F(SecondBySecond, WaitsForLateRanges) {
  RetentionPlan plan;
  plan.ranges = {{"step", std::nullopt}};
  plan.range_patience = 3 * kSecond;
  open(plan);
  const TimeNs first = now;
  add(first + 1, first + 2);
  add(first + 10, first + 11);
  second();
  second();
  EXPECT_EQ(count(), 2);
  retention->range_opened(0, 1, "step", "", first + 9);  // reported late, but within the tolerance
  for (int s = 0; s < 5; ++s) {
    add(now, now + 1);
    second();
  }
  EXPECT_EQ(writer->integer("SELECT count(*) FROM call WHERE start_ns = " + std::to_string(first + 1)), 0);
  EXPECT_EQ(count(), 6);  // the range is still open
  retention->range_ended(0, 1, "step", "", first + 9, first + 20);
  for (int s = 0; s < 5; ++s) second();
  EXPECT_EQ(writer->integer("SELECT count(*) FROM call WHERE start_ns = " + std::to_string(first + 10)), 1);
  ASSERT_EQ(writer->begin(), 0);
  ASSERT_EQ(retention->remove_rest(*writer, now, removed), 0);
  ASSERT_EQ(writer->commit(), 0);
  EXPECT_GE(count(), 1);
  EXPECT_EQ(retention->windows(), 1u);
}

// A program that gives every range a name of its own.
TEST_F(RetentionTest, KeepLastRemovesTheTextsOfRemovedRows) {
  RetentionPlan plan;
  plan.keep_last = 1;  // ns: nothing of a second ago
  Recorder recorder = make(plan);
  const auto texts = [&] {
    Database database;
    EXPECT_EQ(database.open(path(), OpenMode::read_only), 0);
    return database.integer("SELECT count(*) FROM string");
  };
  // Rows are removed once per second: goes on until then.
  const TimeNs patience = now_ns() + 60 * kSecond;
  std::int64_t written = 0, kept = 0;
  while (now_ns() < patience && written < 3'000'000) {
    for (int i = 0; i < 10'000; ++i, ++written) {
      const auto number = static_cast<TextId>(i + 1);
      recorder.add(0, Text(number, "range " + std::to_string(written)).header());
      recorder.add(0, range(number, 0, now_ns(), now_ns()).header);
    }
    recorder.forget_ring(0);  // nobody refers to these texts any more
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    recorder.tick();
    kept = texts();
    if (written >= 150'000 && kept <= written / 2) break;
  }
  EXPECT_LE(kept, written / 2);
  const TimeNs last = now_ns();
  recorder.add(0, Text(1, "the last range").header());
  recorder.add(0, range(1, 0, last, last).header);
  recorder.set_meta(store::MetaKey::ended_ns, std::to_string(last));
  ASSERT_TRUE(recorder.finish());
  // Every row that is left has its text.
  const Result<Reader> reader = Reader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  const auto rows = *reader->rows<NvtxTable>();
  EXPECT_FALSE(rows.empty());
  for (const NvtxRow& row : rows) EXPECT_FALSE(row.name.empty());
  EXPECT_EQ(stat_value(*reader, "missing_texts"), 0);
}

TEST_F(RetentionTest, ATextWithoutARowIsNotInTheTrace) {
  RetentionPlan plan;
  plan.from = 1000;
  plan.until = 2000;
  Recorder recorder = make(plan);
  for (TextId number = 1; number <= 100; ++number) {
    recorder.add(0, Text(number, "iteration " + std::to_string(number)).header());
    recorder.add(0, range(number, 0, number, number + 1).header);  // before the window
  }
  recorder.add(0, range(7, 0, 1500, 1600).header);
  ASSERT_TRUE(recorder.finish());
  Database database;
  ASSERT_EQ(database.open(path(), OpenMode::read_only), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM string WHERE value LIKE 'iteration%'"), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM nvtx n JOIN string s ON s.id = n.name_id WHERE value = "
                             "'iteration 7'"),
            1);
}

TEST_F(RetentionTest, ARingsNextProducerStartsAfresh) {
  Recorder recorder = make({});
  recorder.set_ring_process(0, 10);
  recorder.add(0, Text(1, "first").header());
  KernelEvent event = kernel(1, 2);
  event.name = 1;
  recorder.add(0, event.header);
  recorder.set_ring_dropped(0, 3, 1);
  recorder.forget_ring(0);
  recorder.set_ring_process(0, 11);
  recorder.add(0, event.header);  // text 1 is not bound yet
  recorder.add(0, Text(1, "second").header());
  recorder.add(0, event.header);
  recorder.set_ring_dropped(0, 0, 0);
  recorder.set_ring_dropped(0, 2, 0);
  ASSERT_TRUE(recorder.finish());
  const Result<Reader> reader = Reader::open(path());
  ASSERT_TRUE(reader);
  const auto rows = *reader->rows<KernelTable>();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "first");
  EXPECT_EQ(rows[1].name, "");
  EXPECT_EQ(rows[2].name, "second");
  EXPECT_EQ(stat_value(*reader, "ring_dropped", "ring 0"), 5);
  EXPECT_EQ(stat_value(*reader, "ring_corrupt", "ring 0"), 1);
  EXPECT_EQ(stat_value(*reader, "missing_texts"), 1);
}

}  // namespace
}  // namespace wicprof::store
