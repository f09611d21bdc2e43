// From events through a recorder and a trace file to the analyzer's results.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "protocol/events/call.h"
#include "protocol/events/clock.h"
#include "protocol/events/device.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/process.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/sync.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/wait.h"
#include "protocol/ring.h"
#include "store/read/reader.h"
#include "store/write/recorder.h"

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

  /// A name, sent through a ring like all text.
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
    options.meta = {{store::MetaKey::app, "program"}, {store::MetaKey::command, "program --all"}};
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

TEST_F(RecordedTrace, LoadsCompletelyAndInOrder) {
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
  EXPECT_EQ(comparison.why, "one phase each") << comparison.reason;
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 2.0, 0.02);
}

TEST_F(RecordedTrace, AnUnfinishedTraceIsIncomplete) {
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

TEST_F(RecordedTrace, CudaActivityOfTwoRanksReachesTheAnswer) {
  store::RecorderOptions options;
  options.path = path();
  Result<store::Recorder> recorder = store::Recorder::create(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  const char* const texts[] = {"GPU", "busy_kernel", "cudaLaunchKernel", "rank", "wicprof-flush"};
  for (TextId id = 1; id <= 5; ++id) add_text(*recorder, id, texts[id - 1]);
  DeviceEvent device = make_event<DeviceEvent>();
  device.name = 1;
  device.kind = DeviceKind::cuda;
  device.sm_count = 132;
  device.compute_major = 9;
  device.max_threads_per_sm = 2048;
  device.max_blocks_per_sm = 32;
  device.registers_per_sm = 65'536;
  device.shared_bytes_per_sm = 233'472;
  device.reserved_shared_bytes_per_block = 1024;
  recorder->add(0, device.header);
  // Two processes alternate on one ring, with the same numbers for context, stream and correlation.
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    recorder->set_ring_process(0, 500 + rank);
    ProcessEvent process = make_event<ProcessEvent>();
    process.pid = 500 + rank;
    process.name = 4;
    process.rank = static_cast<std::int32_t>(rank);
    process.local_rank = -1;
    recorder->add(0, process.header);
    const TimeNs begin = 1'000'000'000 + rank * 500'000'000ll;
    CallEvent call = make_event<CallEvent>();
    call.name = 3;
    call.thread = 7;
    call.start_ns = begin;
    call.end_ns = begin + 4'000;
    call.correlation = 1;
    recorder->add(0, call.header);
    KernelEvent kernel = make_event<KernelEvent>();
    kernel.name = 2;
    kernel.start_ns = begin + 5'000 + rank * 2'000;
    kernel.end_ns = begin + 100'000'000;
    kernel.context = 1;
    kernel.stream = 7;
    kernel.correlation = 1;
    for (auto& size : kernel.grid) size = 1;
    for (auto& size : kernel.block) size = 1;
    kernel.grid[0] = 132 * 4 + 66;
    kernel.block[0] = 512;
    kernel.registers_per_thread = 32;
    recorder->add(0, kernel.header);
    SyncEvent sync = make_event<SyncEvent>();
    sync.kind = SyncKind::stream;
    sync.start_ns = begin + 10'000;
    sync.end_ns = begin + 100'003'000;
    sync.context = 1;
    sync.stream = 7;
    sync.correlation = 2;
    recorder->add(0, sync.header);
    call.start_ns = sync.start_ns;
    call.end_ns = sync.end_ns;
    call.correlation = 2;
    recorder->add(0, call.header);
    ThreadSampleEvent sample = make_event<ThreadSampleEvent>();
    sample.pid = 500 + rank;
    sample.thread = 600 + rank;
    sample.name = 5;
    sample.begin_ns = 1'000'000'000;
    sample.end_ns = 2'000'000'000;
    sample.cpu_ns = 10'000'000;
    recorder->add(0, sample.header);
  }
  ASSERT_TRUE(recorder->finish());
  Result<store::Reader> reader = store::Reader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  Result<TraceModel> model = load(*reader, "program.wicprof");
  ASSERT_TRUE(model) << model.error().message;
  const Analysis analysis = analyze(*model);
  ASSERT_EQ(model->processes.size(), 2u);
  EXPECT_EQ(model->processes[1].rank, 1);
  ASSERT_EQ(analysis.kernels.size(), 1u);
  EXPECT_EQ(analysis.kernels[0].count, 2u);
  ASSERT_TRUE(analysis.kernels[0].occupancy);
  EXPECT_DOUBLE_EQ(analysis.kernels[0].occupancy->occupancy, 1.0);
  EXPECT_DOUBLE_EQ(analysis.kernels[0].waves->waves, 1.125);
  ASSERT_EQ(analysis.clocks.size(), 1u);
  EXPECT_EQ(analysis.clocks[0].high, 5'000);  // the other process's call with this correlation does not count
  EXPECT_EQ(analysis.clocks[0].low, -3'000);
  EXPECT_EQ(analysis.own_cost.cpu_ns(), 20'000'000);
  EXPECT_DOUBLE_EQ(analysis.own_cost.share, 0.02);
}

}  // namespace
}  // namespace wicprof::analyzer
