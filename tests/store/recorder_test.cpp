// How the recorder turns events into rows: clocks, texts, matching, loss.
#include "protocol/events/kernel.h"
#include "protocol/events/loss.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

class RecorderTest : public testing::Test {
 protected:
  Recorder make() {
    Result<Recorder> made = Recorder::create(options_for(path_));
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  Reader read(Recorder& recorder) {
    const Result<> done = recorder.finish();
    EXPECT_TRUE(done) << done.error().message;
    Result<Reader> reader = Reader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }

  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
};

TEST_F(RecorderTest, ACompleteTraceIsOneFile) {
  Recorder recorder = make();
  recorder.add(0, wait_event(1).header);
  read(recorder);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"trace.wicprof"});
}

TEST_F(RecorderTest, ConvertsDeviceTimesByTheReadings) {
  Recorder recorder = make();
  recorder.add(0, clock_event(0, 1'000'000, 51'000'000, 400).header);
  WaitEvent wait = wait_event(1, 0);
  wait.arrived_ns = 1'500'000;
  wait.resumed_ns = 1'600'000;
  wait.switched_after_ns = 50'000;
  recorder.add(0, wait.header);
  recorder.add(0, signal_event(9, 1'550'000, 0).header);
  DeviceEvent device = make_event<DeviceEvent>();
  recorder.add(0, device.header);
  const Reader reader = read(recorder);
  const auto waits = reader.rows<WaitTable>();
  ASSERT_TRUE(waits);
  ASSERT_EQ(waits->size(), 1u);
  EXPECT_EQ(waits->front().arrived, 51'500'000);
  EXPECT_EQ(waits->front().resumed, 51'600'000);
  EXPECT_EQ(waits->front().switched, 51'550'000);
  EXPECT_EQ(reader.rows<SignalTable>()->at(0).at, 51'550'000);
  EXPECT_EQ(reader.rows<DeviceTable>()->at(0).clock_error_ns, 400 + 120);  // 200 ppm of 0.6 ms
}

TEST_F(RecorderTest, EventsBeforeTheFirstReadingWaitForIt) {
  Recorder recorder = make();
  recorder.add(0, wait_event(1, 0).header);
  recorder.add(0, signal_event(1, 1'001'500, 0).header);
  EXPECT_EQ(recorder.progress().waits, 0u);
  recorder.add(0, clock_event(1, 5, 5'000, 10).header);  // another device's
  EXPECT_EQ(recorder.progress().waits, 0u);
  recorder.add(0, clock_event(0, 2'000'000, 3'000'000, 10).header);
  EXPECT_EQ(recorder.progress().waits, 1u);
  const Reader reader = read(recorder);
  EXPECT_EQ(reader.rows<WaitTable>()->at(0).arrived, 2'001'000);
  EXPECT_EQ(reader.rows<SignalTable>()->at(0).at, 2'001'500);
  EXPECT_EQ(stat_value(reader, "clock_lost"), 0);
}

TEST_F(RecorderTest, EventsWhoseClockIsNeverReadAreCounted) {
  Recorder recorder = make();
  for (std::uint32_t i = 0; i < 3; ++i) recorder.add(0, wait_event(i, 4).header);
  const Reader reader = read(recorder);
  EXPECT_TRUE(reader.rows<WaitTable>()->empty());
  EXPECT_EQ(stat_value(reader, "clock_lost", "device 4"), 3);
  EXPECT_EQ(recorder.progress().lost, 3u);
}

TEST_F(RecorderTest, HoldsALimitedNumber) {
  Recorder recorder = make();
  constexpr std::uint32_t kHeld = 65'536, kMore = 100;
  for (std::uint32_t i = 0; i < kHeld + kMore; ++i) recorder.add(0, wait_event(i, 0).header);
  EXPECT_EQ(recorder.progress().lost, kMore);
  recorder.add(0, clock_event(0, 1, 1'000, 10).header);
  const Reader reader = read(recorder);
  EXPECT_EQ(reader.rows<WaitTable>()->size(), kHeld);
  EXPECT_EQ(stat_value(reader, "clock_lost", "device 0"), kMore);
}

TEST_F(RecorderTest, CountsReadingsThatRunBackwards) {
  Recorder recorder = make();
  recorder.add(0, clock_event(0, 2'000, 9'000, 10).header);
  recorder.add(0, clock_event(0, 1'000, 9'500, 10).header);
  EXPECT_EQ(stat_value(read(recorder), "clock_refused", "device 0"), 1);
}

TEST_F(RecorderTest, TextsBelongToTheirRing) {
  Recorder recorder = make();
  recorder.add(0, Text(5, "first").header());
  recorder.add(1, Text(5, "second").header());
  KernelEvent kernel = make_event<KernelEvent>();
  kernel.name = 5;
  kernel.start_ns = 1;
  recorder.add(0, kernel.header);
  kernel.start_ns = 2;
  recorder.add(1, kernel.header);
  const auto kernels = read(recorder).rows<KernelTable>();
  ASSERT_EQ(kernels->size(), 2u);
  EXPECT_EQ(kernels->at(0).name, "first");
  EXPECT_EQ(kernels->at(1).name, "second");
}

TEST_F(RecorderTest, ADroppedTextIsNoError) {
  Recorder recorder = make();
  KernelEvent kernel = make_event<KernelEvent>();
  kernel.name = 5;
  recorder.add(0, kernel.header);
  const Reader reader = read(recorder);
  ASSERT_EQ(reader.rows<KernelTable>()->size(), 1u);
  EXPECT_EQ(reader.rows<KernelTable>()->at(0).name, "");
  EXPECT_EQ(stat_value(reader, "missing_texts"), 1);
  EXPECT_EQ(stat_value(reader, "events"), 1);
}

TEST_F(RecorderTest, UnknownAndDamagedRecordsAreSkippedAndCounted) {
  Recorder recorder = make();
  EventHeader unknown{static_cast<EventKind>(999), 8, 0};
  recorder.add(0, unknown);
  WaitEvent wait = wait_event(1);
  wait.header.size = 16;  // as from a much older program
  recorder.add(0, wait.header);
  Text text(1, "abc");
  const_cast<EventHeader&>(text.header()).size = 8;
  recorder.add(0, text.header());
  recorder.add(0, EventHeader{});  // padding
  recorder.add(0, wait_event(2).header);
  EXPECT_EQ(recorder.progress().unknown, 1u);
  const Reader reader = read(recorder);
  EXPECT_EQ(reader.rows<WaitTable>()->size(), 1u);
  EXPECT_EQ(stat_value(reader, "unknown_records"), 1);
  EXPECT_EQ(stat_value(reader, "damaged_records"), 2);
}

TEST_F(RecorderTest, TheKnownPartOfALongerNewerRecordIsRead) {
  struct {
    WaitEvent known = wait_event(3);
    std::uint64_t later[2] = {1, 2};
  } longer;
  longer.known.header.size = sizeof longer;
  Recorder recorder = make();
  recorder.add(0, longer.known.header);
  EXPECT_EQ(read(recorder).rows<WaitTable>()->at(0).iteration, 3u);
}

TEST_F(RecorderTest, LossIsSummedBySourceDeviceAndReason) {
  Recorder recorder = make();
  recorder.add(0, Text(1, "buffer full").header());
  LossEvent loss = make_event<LossEvent>();
  loss.source = LossSource::device_ring;
  loss.device = 2;
  loss.count = 10;
  recorder.add(0, loss.header);
  recorder.add(0, loss.header);
  loss.source = LossSource::cupti;
  loss.reason = 1;
  loss.device = kHostDevice;
  recorder.add(0, loss.header);
  recorder.set_ring_dropped(3, 5, 0);
  recorder.set_ring_dropped(3, 7, 1);
  EXPECT_EQ(recorder.progress().lost, 37u);
  const Reader reader = read(recorder);
  EXPECT_EQ(stat_value(reader, "device_ring_dropped", "device 2"), 20);
  EXPECT_EQ(stat_value(reader, "cupti_dropped", "host: buffer full"), 10);
  EXPECT_EQ(stat_value(reader, "ring_dropped", "ring 3"), 7);
  EXPECT_EQ(stat_value(reader, "ring_corrupt", "ring 3"), 1);
  for (const StatRow& row : *reader.stats()) {
    const bool is_loss = row.name != "events" && row.name != "waits";
    EXPECT_EQ(row.severity == StatRow::Severity::data_loss, is_loss) << row.name;
  }
}

TEST_F(RecorderTest, WithoutLossNoLossRows) {
  Recorder recorder = make();
  recorder.add(0, wait_event(1).header);
  recorder.set_ring_dropped(0, 0, 0);
  for (const StatRow& row : *read(recorder).stats()) EXPECT_EQ(row.severity, StatRow::Severity::info) << row.name;
}

TEST_F(RecorderTest, ReadyIsTheLatestSignalThatReachesTheValue) {
  Recorder recorder = make();
  WaitEvent wait = wait_event(10);  // ends with value 11, resumes at 1'010'700
  recorder.add(0, wait.header);
  const auto signal = [&](std::uint32_t iteration, std::uint32_t value, std::uint64_t at, SiteId site = 1) {
    SignalEvent e = signal_event(iteration, at);
    e.value = value;
    e.site = site;
    recorder.add(0, e.header);
  };
  signal(10, 10, 1'010'650);  // does not reach it
  signal(10, 11, 1'010'100);
  signal(10, 11, 1'010'400);     // this one
  signal(10, 11, 1'010'900);     // too late to have ended the wait
  signal(9, 11, 1'010'500);      // another iteration
  signal(10, 11, 1'010'600, 2);  // another site
  EXPECT_EQ(read(recorder).rows<WaitTable>()->at(0).ready, 1'010'400);
}

TEST_F(RecorderTest, ValuesWrapAround) {
  Recorder recorder = make();
  WaitEvent wait = wait_event(10);
  wait.value = 0xfffffffe;
  recorder.add(0, wait.header);
  SignalEvent signal = signal_event(10, 1'010'300);
  signal.value = 2;  // four after it
  recorder.add(0, signal.header);
  EXPECT_EQ(read(recorder).rows<WaitTable>()->at(0).ready, 1'010'300);
}

// Two waiters with a word each, signalled in turn: each is ready when its own word is signalled.
TEST_F(RecorderTest, DistinguishesTheWordsOfASite) {
  Recorder recorder = make();
  const auto add = [&](WordTag waited, WordTag signalled, std::uint64_t at) {
    WaitEvent wait = wait_event(10);
    wait.word_tag = waited;
    recorder.add(0, wait.header);
    SignalEvent signal = signal_event(10, at);
    signal.word_tag = signalled;
    recorder.add(0, signal.header);
  };
  add(1, 1, 1'010'100);
  add(2, 2, 1'010'400);
  add(3, 0, 1'010'200);  // no signal has this word: one of an unknown word may be its signal
  add(0, 4, 1'010'450);  // this wait's word is unknown: any signal may be its signal
  const auto waits = read(recorder).rows<WaitTable>();
  ASSERT_EQ(waits->size(), 4u);
  for (const WaitRow& wait : *waits) {
    const std::int64_t ready[] = {1'010'450, 1'010'100, 1'010'400, 1'010'200};
    EXPECT_EQ(wait.ready, ready[wait.word.value_or(0)]) << wait.word.value_or(0);
  }
}

TEST_F(RecorderTest, IgnoresTagsIfTheSidesSeeWordsAtDifferentAddresses) {
  Recorder recorder = make();
  for (WordTag word = 1; word <= 3; ++word) {
    WaitEvent wait = wait_event(10);
    wait.word_tag = word;
    recorder.add(0, wait.header);
    SignalEvent signal = signal_event(10, 1'010'100u + word);
    signal.word_tag = static_cast<WordTag>(word + 2);  // one of three is equal by chance
    recorder.add(0, signal.header);
  }
  for (const WaitRow& wait : *read(recorder).rows<WaitTable>()) EXPECT_EQ(wait.ready, 1'010'103);
}

TEST_F(RecorderTest, NoReadyWithoutASignalOrAfterADeadline) {
  Recorder recorder = make();
  recorder.add(0, wait_event(10).header);
  WaitEvent late = wait_event(11);
  late.status = WaitStatus::deadline_passed;
  recorder.add(0, late.header);
  recorder.add(0, signal_event(11, 1'011'100).header);
  for (const WaitRow& row : *read(recorder).rows<WaitTable>()) EXPECT_EQ(row.ready, std::nullopt);
}

TEST_F(RecorderTest, ListsAreOrderedByTime) {
  Recorder recorder = make();
  for (const std::uint32_t i : {5u, 1u, 9u, 3u}) recorder.add(0, wait_event(i).header);
  std::vector<std::uint32_t> iterations;
  for (const WaitRow& row : *read(recorder).rows<WaitTable>()) iterations.push_back(row.iteration);
  EXPECT_EQ(iterations, (std::vector<std::uint32_t>{1, 3, 5, 9}));
}

TEST_F(RecorderTest, FinishingTwiceAndAddingAfterwardsChangesNothing) {
  Recorder recorder = make();
  recorder.add(0, wait_event(1).header);
  const Reader reader = read(recorder);
  recorder.add(0, wait_event(2).header);
  EXPECT_TRUE(recorder.finish());
  EXPECT_EQ(reader.rows<WaitTable>()->size(), 1u);
}

TEST_F(RecorderTest, WithoutFinishTheTraceIsMarkedIncomplete) {
  {
    Recorder recorder = make();
    recorder.add(0, wait_event(1).header);
  }
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->meta()->at("state"), kWithoutLog);  // SQLite has emptied the log and removed it
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 1u);
}

TEST_F(RecorderTest, RefusesToOverwriteUnlessTold) {
  record_waits(path_, 3);
  const Result<Recorder> refused = Recorder::create(options_for(path_));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().message.find(path_), std::string::npos);
  EXPECT_NE(refused.error().message.find("-f"), std::string::npos);
  EXPECT_EQ(Reader::open(path_)->rows<WaitTable>()->size(), 3u);

  RecorderOptions options = options_for(path_);
  options.overwrite = true;
  Result<Recorder> replaced = Recorder::create(options);
  ASSERT_TRUE(replaced) << replaced.error().message;
  ASSERT_TRUE(replaced->finish());
  EXPECT_TRUE(Reader::open(path_)->rows<WaitTable>()->empty());
}

TEST_F(RecorderTest, GivesTheReasonIfATraceCannotBeCreated) {
  const std::string missing = folder_ / "no/such/trace.wicprof";
  const Result<Recorder> nowhere = Recorder::create(options_for(missing));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::bad_input);
  EXPECT_NE(nowhere.error().message.find(missing), std::string::npos);

  RecorderOptions on_folder = options_for(folder_.path());
  on_folder.overwrite = true;
  const Result<Recorder> folder = Recorder::create(on_folder);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a folder"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path()));

  EXPECT_FALSE(Recorder::create(options_for("")));
}

}  // namespace
}  // namespace wicprof::store
