// A recording in segments: each is a trace by itself, and nothing is lost or counted twice where one ends.
#include <malloc.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "protocol/events/choice.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/notice.h"
#include "protocol/events/process.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

KernelEvent kernel(TextId name, TimeNs start) {
  KernelEvent event = make_event<KernelEvent>();
  event.device = 0;
  event.name = name;
  event.start_ns = start;
  event.end_ns = start + 10;
  return event;
}

DeviceEvent device(DeviceId id, TextId name) {
  DeviceEvent event = make_event<DeviceEvent>();
  event.device = id;
  event.name = name;
  event.sm_count = 4;
  return event;
}

SiteEvent site(SiteId id, TextId name) {
  SiteEvent event = make_event<SiteEvent>();
  event.site = id;
  event.name = name;
  event.words = 1;
  return event;
}

InterventionEvent intervention(SiteId site, Mode to) {
  InterventionEvent event = make_event<InterventionEvent>();
  event.site = site;
  event.old_mode = to == Mode::park ? 0 : 1;
  event.new_mode = static_cast<std::uint8_t>(to);
  event.requested_ns = event.effective_ns = now_ns();
  return event;
}

NoticeEvent notice(TextId text) {
  NoticeEvent event = make_event<NoticeEvent>();
  event.text = text;
  event.at_ns = now_ns();
  return event;
}

class SegmentTest : public testing::Test {
 protected:
  Recorder make(const RecorderOptions& options) {
    Result<Recorder> recorder = Recorder::create(options);
    if (!recorder) std::abort();
    return *std::move(recorder);
  }
  std::string path(int number) const { return folder / ("trace." + std::to_string(number) + ".wicprof"); }
  Recorder next(Recorder& recorder, int number) {
    Result<Recorder> ended = recorder.next_segment(path(number));
    if (!ended) ADD_FAILURE() << ended.error().message;
    if (!ended) std::abort();
    return *std::move(ended);
  }
  static std::int64_t number(const std::string& trace, const std::string& sql) {
    Database database;
    EXPECT_EQ(database.open(trace, OpenMode::read_only), 0);
    return database.integer(sql, -1);
  }
  static std::vector<std::string> kernels(const std::string& trace) {
    std::vector<std::string> names;
    const Result<Reader> reader = Reader::open(trace);
    EXPECT_TRUE(reader) << reader.error().message;
    if (!reader) return names;
    for (const KernelRow& row : *reader->rows<KernelTable>()) names.push_back(std::string(row.name));
    return names;
  }

  TempFolder folder;
};

// Of each ring the recorder keeps the newest 16 MiB of texts (TextTable::kMaxNumberBytes), and forgets the others with
// the segment that they were in.
TEST_F(SegmentTest, TextsOfEndedSegmentsTakeNoMemory) {
  constexpr std::size_t kBytes = 4096, kTexts = 4096;  // 16 MiB of texts per segment
  Recorder recorder = make(options_for(path(1)));
  std::size_t after_second = 0;
  TextId number = 0;
  for (int segment = 1; segment <= 5; ++segment) {
    for (std::size_t i = 0; i < kTexts; ++i) {
      std::string text = "text " + std::to_string(++number);
      text.resize(kBytes, '.');
      recorder.add(0, Text(number, text).header());
      recorder.add(0, kernel(number, 100).header);
    }
    Recorder ended = next(recorder, segment + 1);
    ASSERT_TRUE(ended.finish());
    if (segment == 2) after_second = mallinfo2().uordblks + mallinfo2().hblkhd;
  }
  const std::size_t last = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(last, after_second + kTexts * kBytes) << "three more segments hold 48 MiB of texts";
  ASSERT_TRUE(recorder.finish());
}

TEST_F(SegmentTest, EachSegmentIsATraceByItself) {
  Recorder recorder = make(options_for(path(1)));
  recorder.set_meta(store::MetaKey::app, "server");
  recorder.add(0, Text(1, "a device").header());
  recorder.add(0, device(3, 1).header);
  recorder.add(0, clock_event(3, 100, 1'000'100, 5).header);
  recorder.add(0, clock_event(3, 10'000'100, 11'000'100, 7).header);
  recorder.add(0, Text(2, "a site").header());
  recorder.add(0, site(1, 2).header);
  recorder.add(0, Text(3, "spin").header());
  recorder.add(0, kernel(3, 100).header);
  recorder.add(0, wait_event(1, 3).header);
  Recorder first = next(recorder, 2);
  recorder.add(0, kernel(3, 200).header);  // its text came before
  recorder.add(0, wait_event(2, 3).header);
  recorder.add(0, wait_event(3, 3).header);
  Recorder second = next(recorder, 3);
  ASSERT_TRUE(second.finish());  // in any order
  ASSERT_TRUE(first.finish());
  ASSERT_TRUE(recorder.finish());
  const std::int64_t waits[] = {1, 2, 0};
  for (int i = 1; i <= 3; ++i) {
    const Result<Reader> reader = Reader::open(path(i));
    ASSERT_TRUE(reader) << reader.error().message;
    const auto meta = *reader->meta();
    EXPECT_EQ(meta.at("state"), "complete");
    EXPECT_EQ(meta.at("app"), "server");
    EXPECT_LE(std::stoll(meta.at("started_ns")), std::stoll(meta.at("ended_ns")));
    ASSERT_EQ(reader->rows<DeviceTable>()->size(), 1u);
    EXPECT_EQ(std::string((*reader->rows<DeviceTable>())[0].name), "a device");
    ASSERT_EQ(reader->rows<SiteTable>()->size(), 1u);
    EXPECT_EQ(std::string((*reader->rows<SiteTable>())[0].name), "a site");
    EXPECT_EQ(number(path(i), "SELECT error_ns FROM clock ORDER BY id DESC LIMIT 1"), 7);
    EXPECT_EQ(number(path(i), "SELECT count(*) FROM wait"), waits[i - 1]);
    EXPECT_EQ(stat_value(*reader, "waits"), waits[i - 1]);
    EXPECT_EQ(stat_value(*reader, "missing_texts"), 0);
    EXPECT_EQ(number(path(i), "SELECT count(*) FROM clock"), i == 1 ? 2 : 1);
  }
  EXPECT_EQ(kernels(path(1)), std::vector<std::string>{"spin"});
  EXPECT_EQ(kernels(path(2)), std::vector<std::string>{"spin"});
  EXPECT_EQ(kernels(path(3)), std::vector<std::string>{});
  const auto ended = [&](int i) { return std::stoll(Reader::open(path(i))->meta()->at("ended_ns")); };
  const auto started = [&](int i) { return std::stoll(Reader::open(path(i))->meta()->at("started_ns")); };
  EXPECT_LE(ended(1), started(3));
  EXPECT_GE(ended(2), started(2));
}

TEST_F(SegmentTest, LossesAreCountedWhereTheyOccur) {
  Recorder recorder = make(options_for(path(1)));
  recorder.set_ring_process(0, 10);
  recorder.set_ring_dropped(0, 5, 0);
  recorder.set_stat(Stat::producers_refused, "", 2);
  recorder.set_stat(Stat::steal_ns, "", 100);
  Recorder first = next(recorder, 2);
  recorder.set_ring_dropped(0, 5, 0);
  recorder.set_stat(Stat::producers_refused, "", 2);
  Recorder second = next(recorder, 3);
  recorder.set_ring_dropped(0, 12, 1);
  recorder.forget_ring(0);
  recorder.set_ring_dropped(0, 1, 0);
  recorder.set_stat(Stat::producers_refused, "", 3);
  recorder.set_stat(Stat::steal_ns, "", 250);
  WaitEvent damaged = wait_event(1);
  damaged.header.size = 16;
  recorder.add(0, damaged.header);
  EXPECT_EQ(recorder.progress().lost, 5u + 8 + 3 + 1);  // of the whole recording
  for (Recorder* one : {&first, &second, &recorder}) ASSERT_TRUE(one->finish());
  const auto value = [&](int i, const char* stat) { return stat_value(*Reader::open(path(i)), stat); };
  EXPECT_EQ(value(1, "ring_dropped"), 5);
  EXPECT_EQ(value(2, "ring_dropped"), 0);
  EXPECT_EQ(value(3, "ring_dropped"), 8);
  EXPECT_EQ(value(3, "ring_corrupt"), 1);
  EXPECT_EQ(value(1, "producers_refused"), 2);
  EXPECT_EQ(value(2, "producers_refused"), 0);
  EXPECT_EQ(value(3, "producers_refused"), 1);
  EXPECT_EQ(value(1, "steal_ns"), 100);
  EXPECT_EQ(value(3, "steal_ns"), 150);
  EXPECT_EQ(value(1, "damaged_records"), 0);
  EXPECT_EQ(value(3, "damaged_records"), 1);
}

TEST_F(SegmentTest, TheNextSegmentBeginsInTheModeInForce) {
  Recorder recorder = make(options_for(path(1)));
  recorder.set_meta(store::MetaKey::mode, "poll");
  Recorder first = next(recorder, 2);
  recorder.add(0, intervention(0, Mode::park).header);
  recorder.add(0, intervention(7, Mode::poll).header);
  recorder.add(0, Text(1, "a toggle failed").header());
  recorder.add(0, notice(1).header);
  Recorder second = next(recorder, 3);
  Recorder third = next(recorder, 4);
  for (Recorder* one : {&first, &second, &third, &recorder}) ASSERT_TRUE(one->finish());
  const char* const modes[] = {"poll", "poll", "park", "park"};
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(Reader::open(path(i))->meta()->at("mode"), modes[i - 1]) << i;
  EXPECT_EQ(number(path(2), "SELECT count(*) FROM intervention"), 2);
  // What holds for a site is repeated; what held for the program is `mode`; what happened once stays where it happened.
  EXPECT_EQ(number(path(3), "SELECT count(*) FROM intervention WHERE site_id = 7"), 1);
  EXPECT_EQ(number(path(4), "SELECT count(*) FROM intervention"), 1);
  EXPECT_EQ(number(path(2), "SELECT count(*) FROM notice"), 1);
  EXPECT_EQ(number(path(3), "SELECT count(*) FROM notice"), 0);
}

TEST_F(SegmentTest, WhatIsRepeatedDoesNotGrow) {
  Recorder recorder = make(options_for(path(1)));
  recorder.add(0, device(3, 0).header);
  std::int64_t rows = 0;
  for (int i = 2; i <= 6; ++i) {
    for (std::uint64_t reading = 0; reading < 50; ++reading) {
      const std::uint64_t at = static_cast<std::uint64_t>(i) * 1'000'000'000 + reading * 10'000'000;
      recorder.add(0, clock_event(3, at, static_cast<TimeNs>(at) + 1000, 5).header);
      ChoiceEvent choice = make_event<ChoiceEvent>();
      choice.site = static_cast<SiteId>(reading % 2 + 1);
      recorder.add(0, choice.header);
    }
    Recorder ended = next(recorder, i);
    const std::int64_t repeated =
        number(path(i), "SELECT (SELECT count(*) FROM clock) + (SELECT count(*) FROM choice)");
    if (i > 2) {
      EXPECT_EQ(repeated, rows);
    }
    rows = repeated;
    EXPECT_EQ(rows, 3);
    ASSERT_TRUE(ended.finish());
  }
  ASSERT_TRUE(recorder.finish());
}

TEST_F(SegmentTest, ASegmentThatCannotBeginLeavesTheCurrentOneAsItIs) {
  write_contents(path(2), "somebody else's");
  Recorder recorder = make(options_for(path(1)));
  recorder.add(0, Text(1, "spin").header());
  recorder.add(0, kernel(1, 100).header);
  const Result<Recorder> refused = recorder.next_segment(path(2));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("already exists"), std::string::npos);
  EXPECT_FALSE(recorder.next_segment(folder / "missing/trace.wicprof"));
  recorder.add(0, kernel(1, 200).header);
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(kernels(path(1)), (std::vector<std::string>{"spin", "spin"}));
  EXPECT_EQ(contents(path(2)), "somebody else's");
}

// The limit of --max-size is each segment's: the recording continues after a segment that was full.
TEST_F(SegmentTest, AFullSegmentDoesNotEndTheRecording) {
  RecorderOptions options = options_for(path(1));
  options.max_bytes = 1 << 20;
  Recorder recorder = make(options);
  recorder.add(0, Text(1, "spin").header());
  for (std::uint32_t i = 0; recorder.progress().stopped.empty() && i < 10'000'000; ++i) {
    recorder.add(0, wait_event(i).header);
  }
  ASSERT_FALSE(recorder.progress().stopped.empty());
  for (std::uint32_t i = 0; i < 10; ++i) recorder.add(0, wait_event(i).header);
  Recorder full = next(recorder, 2);
  EXPECT_TRUE(recorder.progress().stopped.empty());
  EXPECT_GE(recorder.progress().lost, 10u);
  recorder.add(0, kernel(1, 100).header);
  EXPECT_FALSE(full.finish());
  ASSERT_TRUE(recorder.finish());
  EXPECT_GE(stat_value(*Reader::open(path(1)), "store_lost"), 10);
  EXPECT_EQ(stat_value(*Reader::open(path(2)), "store_lost"), 0);
  EXPECT_EQ(kernels(path(2)), std::vector<std::string>{"spin"});
}

TEST_F(SegmentTest, AnEndedSegmentIsCompletedOnAnotherThreadWhileTheNextIsWritten) {
  Recorder recorder = make(options_for(path(1)));
  for (std::uint32_t i = 0; i < 50'000; ++i) recorder.add(0, wait_event(i).header);
  Recorder ended = next(recorder, 2);
  std::atomic<bool> done{false};
  std::thread other([&] {
    EXPECT_TRUE(ended.finish());
    done = true;
  });
  std::uint32_t written = 0;
  while (!done || written < 1000) recorder.add(0, wait_event(written++).header);
  other.join();
  EXPECT_EQ(number(path(1), "SELECT count(*) FROM wait"), 50'000);
  EXPECT_FALSE(std::filesystem::exists(path(1) + "-wal"));
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(number(path(2), "SELECT count(*) FROM wait"), written);
}

TEST_F(SegmentTest, EventsThatWaitForAClockAreWrittenWhereItsFirstReadingArrives) {
  Recorder recorder = make(options_for(path(1)));
  recorder.add(0, wait_event(1, 3).header);
  Recorder first = next(recorder, 2);
  recorder.add(0, clock_event(3, 100, 1'000'100, 5).header);
  ASSERT_TRUE(first.finish());
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(number(path(1), "SELECT count(*) FROM wait"), 0);
  EXPECT_EQ(stat_value(*Reader::open(path(1)), "clock_lost"), 0);
  EXPECT_EQ(number(path(2), "SELECT count(*) FROM wait"), 1);
}

TEST_F(SegmentTest, NamesWithQuotesAndSpaces) {
  const std::string odd = folder / "it's a trace.1.wicprof";
  Recorder recorder = make(options_for(odd));
  recorder.add(0, Text(1, "a device").header());
  recorder.add(0, device(3, 1).header);
  Recorder first = next(recorder, 2);
  ASSERT_TRUE(first.finish());
  ASSERT_TRUE(recorder.finish());
  EXPECT_EQ(number(path(2), "SELECT count(*) FROM device"), 1);
}

}  // namespace
}  // namespace wicprof::store
