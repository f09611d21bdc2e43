// From events through a recorder and a trace file to the analyzer's answer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "protocol/events/clock.h"
#include "protocol/events/device.h"
#include "protocol/events/intervention.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/wait.h"
#include "protocol/ring.h"
#include "store/reader.h"
#include "store/recorder.h"

namespace wicprof::analyzer {
namespace {

constexpr std::uint64_t kDeviceEpoch =
    77'000'000'000;  // what the device's clock shows when the host's shows kHostEpoch
constexpr TimeNs kHostEpoch = 5'000'000'000;
constexpr TimeNs kClockError = 300;

class RecordedTrace : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "wicprof-analyzer-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path() const { return folder_ + "/program.wicprof"; }

  static std::uint64_t device_time(TimeNs host) { return kDeviceEpoch + static_cast<std::uint64_t>(host - kHostEpoch); }

  /// A name, through a ring as every text goes.
  static void add_text(store::Recorder& recorder, TextId id, const std::string& text) {
    constexpr std::size_t kCapacity = 2 * kMaxEventSize;
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    std::vector<Line> memory(ring_bytes(kCapacity) / sizeof(Line) + 1);
    RingHeader* ring = make_ring(memory.data(), kCapacity);
    RingWriter(ring).write_text(id, text);
    RingReader(ring).read([&](const EventHeader& event) { recorder.add(0, event); });
  }

  static void add_clock(store::Recorder& recorder, TimeNs host) {
    ClockEvent clock = make_event<ClockEvent>();
    clock.device = 0;
    clock.device_ns = device_time(host);
    clock.host_ns = host;
    clock.error_ns = kClockError;
    recorder.add(0, clock.header);
  }

  static void add_iteration(store::Recorder& recorder, std::uint32_t iteration, TimeNs begin, TimeNs period,
                            StrategyId strategy) {
    SignalEvent signal = make_event<SignalEvent>();
    signal.site = 1;
    signal.device = kHostDevice;
    signal.iteration = iteration;
    signal.value = iteration + 1;
    signal.at_ns = static_cast<std::uint64_t>(begin + period / 2);
    recorder.add(0, signal.header);
    for (std::uint32_t block = 0; block < 16; ++block) {
      WaitEvent wait = make_event<WaitEvent>();
      wait.site = 1;
      wait.device = 0;
      wait.block = block;
      wait.sm = static_cast<std::uint16_t>(block);
      wait.iteration = iteration;
      wait.value = iteration + 1;
      wait.polls = 5;
      wait.strategy = static_cast<std::uint8_t>(strategy);
      wait.arrived_ns = device_time(begin + block);
      wait.resumed_ns = device_time(begin + period / 2 + 2'000);
      recorder.add(0, wait.header);
    }
  }

  /// 100 iterations of 2 ms polling, then 100 of 1 ms parked.
  void record() {
    store::RecorderOptions options;
    options.path = path();
    options.meta = {{"app", "program"}, {"command", "program --all"}};
    Result<store::Recorder> recorder = store::Recorder::create(options);
    ASSERT_TRUE(recorder) << recorder.error().message;
    add_text(*recorder, 1, "GPU");
    add_text(*recorder, 2, "flag");
    DeviceEvent device = make_event<DeviceEvent>();
    device.device = 0;
    device.name = 1;
    device.kind = DeviceKind::cuda;
    device.sm_count = 16;
    recorder->add(0, device.header);
    SiteEvent site = make_event<SiteEvent>();
    site.site = 1;
    site.name = 2;
    site.word_memory = WordMemory::pinned_host;
    site.words = 1;
    recorder->add(0, site.header);

    TimeNs now = kHostEpoch;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const bool parked = i >= 100;
      if (i % 50 == 0) add_clock(*recorder, now);
      if (i == 100) {
        InterventionEvent change = make_event<InterventionEvent>();
        change.sequence = 1;
        change.old_strategy = static_cast<std::uint32_t>(StrategyId::poll);
        change.new_strategy = static_cast<std::uint32_t>(StrategyId::automatic);
        change.old_mode = static_cast<std::uint8_t>(Mode::poll);
        change.new_mode = static_cast<std::uint8_t>(Mode::park);
        change.requested_ns = now;
        change.effective_ns = now + 150'000;
        recorder->add(0, change.header);
      }
      const TimeNs period = (parked ? 1'000'000 : 2'000'000) + TimeNs{i % 4} * 1'000;
      add_iteration(*recorder, i, now, period, parked ? StrategyId::shared_watch : StrategyId::poll);
      now += period;
    }
    add_clock(*recorder, now);
    const Result<> done = recorder->finish();
    ASSERT_TRUE(done) << done.error().message;
  }

  Result<TraceModel> loaded() const {
    Result<store::Reader> reader = store::Reader::open(path());
    if (!reader) return reader.error();
    return load(*reader, "program.wicprof");
  }

 private:
  std::string folder_;
};

TEST_F(RecordedTrace, LoadsWholeAndInOrder) {
  ASSERT_NO_FATAL_FAILURE(record());
  const Result<TraceModel> model = loaded();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->complete) << model->incomplete_reason;
  EXPECT_EQ(model->waits.size(), 3200u);
  EXPECT_EQ(model->signals.size(), 200u);
  EXPECT_EQ(model->site_name(1), "flag");
  EXPECT_EQ(model->device_name(0), "GPU");
  EXPECT_NEAR(static_cast<double>(model->begin), static_cast<double>(kHostEpoch), 2.0 * kClockError);
  for (std::size_t i = 1; i < model->waits.size(); ++i) EXPECT_LE(model->waits[i - 1].arrived, model->waits[i].arrived);
}

TEST_F(RecordedTrace, AnalysisFindsTheHotWordAndTheWakeLatency) {
  ASSERT_NO_FATAL_FAILURE(record());
  const Result<TraceModel> model = loaded();
  ASSERT_TRUE(model) << model.error().message;
  const Analysis analysis = analyze(*model);
  ASSERT_EQ(analysis.sites.size(), 1u);
  EXPECT_EQ(analysis.sites[0].max_polling, 16u);
  EXPECT_EQ(analysis.classification.model, Model::unidirectional);
  EXPECT_EQ(analysis.wakes[0].matched, 3200u);
  EXPECT_EQ(analysis.wakes[0].unmatched, 0u);
  EXPECT_NEAR(static_cast<double>(analysis.wakes[0].p50_ns), 2'000, 2.0 * kClockError);
  EXPECT_GE(analysis.wakes[0].error_ns.value_or(0), kClockError);
  EXPECT_TRUE(analysis.loss.empty());
  ASSERT_FALSE(analysis.findings.empty());
  EXPECT_EQ(analysis.findings[0].rule, "hot_word");
}

TEST_F(RecordedTrace, ComparisonFindsTheSpeedup) {
  ASSERT_NO_FATAL_FAILURE(record());
  const Result<TraceModel> model = loaded();
  ASSERT_TRUE(model) << model.error().message;
  const Comparison comparison = compare(*model);
  EXPECT_EQ(comparison.verdict, Verdict::improvement) << comparison.reason;
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 2.0, 0.02);
}

TEST_F(RecordedTrace, ATraceThatIsStillWrittenIsIncomplete) {
  store::RecorderOptions options;
  options.path = path();
  Result<store::Recorder> recorder = store::Recorder::create(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  const Result<TraceModel> model = loaded();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(model->complete);
  const Analysis analysis = analyze(*model);
  ASSERT_EQ(analysis.loss.size(), 1u);
  EXPECT_EQ(analysis.loss[0].name, "incomplete");
}

}  // namespace
}  // namespace wicprof::analyzer
