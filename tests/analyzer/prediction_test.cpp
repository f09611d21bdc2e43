// Critical path, interference, overlap, and the prediction from the critical path.
#include "analyzer/path/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/compare/compare.h"
#include "analyzer/path/prediction_constants.h"
#include "analyzer/work/interference.h"
#include "analyzer/work/overlap.h"
#include "analyzer/work/tile_gain.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

store::WaitRow wait_row(SiteId site, std::uint32_t block, TimeNs arrived, TimeNs resumed, std::uint32_t number = 0) {
  store::WaitRow row{};
  row.site = site;
  row.block = block;
  row.arrived = arrived;
  row.resumed = resumed;
  row.iteration = number;
  row.value = number + 1;
  row.polls = 10;
  return row;
}

store::SignalRow signal_row(SiteId site, DeviceId device, std::uint32_t block, TimeNs at, std::uint32_t number = 0) {
  store::SignalRow row{};
  row.site = site;
  row.device = device;
  row.block = block;
  row.at = at;
  row.iteration = number;
  row.value = number + 1;
  return row;
}

store::HostWaitRow host_wait_row(SiteId site, TimeNs begin, TimeNs end, std::uint32_t number = 0) {
  store::HostWaitRow row{};
  row.site = site;
  row.thread = 7;
  row.begin = begin;
  row.end = end;
  row.iteration = number;
  return row;
}

void expect_whole(const CriticalPath& path) {
  TimeNs sum = 0;
  for (std::size_t i = 0; i < path.segments.size(); ++i) {
    sum += path.segments[i].length();
    if (i > 0) {
      EXPECT_LE(path.segments[i - 1].end, path.segments[i].begin);
    }
  }
  EXPECT_LE(path.length_ns, sum) << "the part within the window of the iterations";
  EXPECT_GT(path.length_ns, 0);
  double shares = 0;
  for (const PathShare& share : path.shares) shares += share.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(CriticalPath, LeadsFromTheHostsWaitThroughTheBlockToTheHostsSignal) {
  TraceModel model = empty_program();
  declare_site(model, 2, "back", WordMemory::pinned_host);
  model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
  model.waits.push_back(wait_row(1, 1, 1'000'000, 1'052'000));  // the path does not need this one
  model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
  model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
  model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
  settle(model);
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_TRUE(path.missing.empty()) << path.missing;
  ASSERT_EQ(path.segments.size(), 4u);
  const PathKind kinds[] = {PathKind::host_work, PathKind::wake, PathKind::device_work, PathKind::wake};
  const TimeNs lengths[] = {40'000, 10'000, 50'000, 10'000};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(path.segments[i].kind, kinds[i]) << i;
    EXPECT_EQ(path.segments[i].length(), lengths[i]) << i;
  }
  EXPECT_EQ(path.length_ns, model.span());
  expect_whole(path);
}

// A thread of the backend copies something just before the program's thread signals.
TEST(CriticalPath, LeadsToTheSignallingThreadNotTheLastActiveOne) {
  for (const bool known : {true, false}) {
    TraceModel model = empty_program();
    declare_site(model, 2, "back", WordMemory::pinned_host);
    model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
    model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
    model.signals.back().thread = known ? 7 : 0;
    model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
    model.host_waits.push_back(host_wait_row(2, 1'005'000, 1'010'000, 100));  // the program's thread
    model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
    model.host_waits.push_back(host_wait_row(0, 1'030'000, 1'039'000));
    model.host_waits.back().thread = 8;
    model.host_waits.back().call = "cudaMemcpy";
    settle(model);
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::host_work) {
        EXPECT_EQ(segment.place, 7u) << (known ? "said by the signal" : "guessed");
      }
    }
    expect_whole(path);
  }
}

// The last thing in a recording of `run --ab` is the word with which the backend switches the mode. Its thread waits
// for nobody, so a path from there would say that the program only ran on that thread.
TEST(CriticalPath, DoesNotBeginAtACopyOfTheBackend) {
  for (const bool of_program : {false, true}) {
    TraceModel model = empty_program();
    declare_site(model, 2, "back", WordMemory::pinned_host);
    model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
    model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
    model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
    model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
    store::CallRow call{};
    call.thread = of_program ? 7 : 9;
    call.correlation = 5;
    call.start = 1'112'000;
    call.end = 1'113'000;
    model.calls.push_back(call);
    store::CopyRow copy{};
    copy.correlation = 5;
    copy.start = 1'114'000;
    copy.end = 1'115'000;
    copy.bytes = 4;
    model.copies.push_back(copy);
    settle(model);
    const CriticalPath path = critical_path(model, match(model));
    TimeNs on_device = 0;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::device_work) on_device += segment.length();
    }
    EXPECT_EQ(on_device, 50'000) << of_program;
    EXPECT_EQ(path.segments.back().kind, of_program ? PathKind::copy : PathKind::wake);
  }
}

TEST(CriticalPath, LeadsThroughLaunchesAndTheHostsSynchronization) {
  test_program::Program program;
  program.launch("first", 1, {100'000, 200'000}, 90'000);
  program.host_wait("cudaStreamSynchronize", {110'000, 205'000}, std::nullopt);
  program.launch("second", 1, {220'000, 300'000}, 210'000);
  const TraceModel& model = program.settled();
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_TRUE(path.missing.empty()) << path.missing;
  std::map<PathKind, TimeNs> totals;
  for (const PathSegment& segment : path.segments) totals[segment.kind] += segment.length();
  EXPECT_EQ(totals[PathKind::device_work], 180'000);
  EXPECT_EQ(totals[PathKind::launch], 20'000);
  EXPECT_EQ(totals[PathKind::host_return], 5'000);
  EXPECT_EQ(totals[PathKind::host_work], 5'000);
  expect_whole(path);
}

// Errors of the clocks put the last signal of a kernel behind the kernel's end. A thread of the backend waits
// meanwhile.
TEST(CriticalPath, ASignalBehindItsKernelsEndLeadsIntoTheKernel) {
  for (const TimeNs late : {0, 12'000}) {
    test_program::Program program;
    program.model.devices.back().clock_error_ns = 30'000;
    program.launch("streams", 1, {100'000, 900'000}, 90'000).grid[0] = 8;
    program.model.sites.push_back({1, "streamed", WordMemory::pinned_host, Pollers::leader, 1});
    program.model.signals.push_back(signal_row(1, 0, 6, 899'000 + late));
    program.model.host_waits.push_back(host_wait_row(1, 110'000, 930'000));
    program.host_wait("cuEventSynchronize", {700'000, 899'500}, std::nullopt);
    program.model.host_waits.back().thread = 9;
    const TraceModel& model = program.settled();
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    TimeNs on_device = 0;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::device_work) on_device += segment.length();
      if (segment.kind == PathKind::host_work) {
        EXPECT_EQ(segment.place, 7u) << late;
      }
    }
    EXPECT_EQ(on_device, 799'000 + late);
    EXPECT_TRUE(path.notes.empty()) << path.notes.front();
    expect_whole(path);
  }
}

// The backend compares clocks with a kernel of one block that never waits, launched by the backend's thread.
TEST(CriticalPath, LeadsToTheKernelOfTheBlockNotToTheBackends) {
  for (const char* other : {"wic::cuda::answer_pings", "small"}) {
    test_program::Program program;
    program.kernel("waiting", 1, {100'000, 900'000}).grid[0] = 8;
    program.kernel(other, 2, {300'000, 950'000}).grid[0] = 1;
    program.model.sites.push_back({1, "flag", WordMemory::pinned_host, Pollers::leader, 1});
    program.model.waits.push_back(wait_row(1, 5, 200'000, 600'000));
    program.model.signals.push_back(signal_row(1, kHostDevice, 0, 590'000));
    program.model.signals.back().thread = 7;
    program.model.waits.push_back(wait_row(1, 5, 700'000, 960'000));  // the last thing that happens
    program.model.signals.push_back(signal_row(1, 0, 6, 955'000));
    const TraceModel& model = program.settled();
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind != PathKind::device_work) continue;
      EXPECT_NE(segment.begin, 300'000) << other << ": the other kernel's begin";
    }
    expect_whole(path);
  }
}

TEST(CriticalPath, AKernelWaitsForThePreviousOneInItsStream) {
  test_program::Program program;
  program.launch("first", 1, {100'000, 200'000}, 80'000);
  program.launch("second", 1, {203'000, 300'000}, 90'000);
  const TraceModel& model = program.settled();
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_GE(path.segments.size(), 3u);
  const PathSegment& gap = path.segments[path.segments.size() - 2];
  EXPECT_EQ(gap.kind, PathKind::launch);
  EXPECT_EQ(gap.length(), 3'000);
  expect_whole(path);
}

TEST(CriticalPath, IsMissingWithoutEdgesAndCalls) {
  TraceModel model = empty_program();
  add_handoff(model, {.iterations = 5});
  model.signals.clear();
  settle(model);
  EXPECT_FALSE(critical_path(model, match(model)).missing.empty());
  EXPECT_FALSE(critical_path(TraceModel{}, Matching{}).missing.empty());
}

TEST(CriticalPath, CircularSignalsEndTheWalk) {
  TraceModel model = empty_program();
  // Two blocks that appear to release each other at the same time.
  model.waits.push_back(wait_row(1, 0, 1'000, 2'000));
  model.waits.push_back(wait_row(2, 1, 1'000, 2'000));
  model.signals.push_back(signal_row(1, 0, 1, 2'000));
  model.signals.push_back(signal_row(2, 0, 0, 2'000));
  settle(model);
  EXPECT_LE(critical_path(model, match(model)).length_ns, model.span());
}

/// Kernels of 1,056 blocks: 528 wait on one word, block 600 streams for `work` and signals the CPU, which releases
/// them.
TraceModel hot_word(WordMemory memory, std::uint32_t words, std::uint32_t waiters = 528, TimeNs work = 900'000) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "flag", memory, words);
  declare_site(model, 2, "streamed", WordMemory::pinned_host);
  TimeNs begin = 1'000'000'000;
  for (std::uint32_t i = 0; i < 60; ++i) {
    store::KernelRow kernel{};
    kernel.name = "hot";
    kernel.start = begin;
    kernel.grid[0] = 1056;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.correlation = i + 1;
    store::CallRow call{};
    call.thread = 7;
    call.correlation = i + 1;
    call.start = i == 0 ? begin - 10'000 : begin - 9'000;
    call.end = call.start + 2'000;
    model.calls.push_back(call);
    const TimeNs streamed = begin + work;
    model.signals.push_back(signal_row(2, 0, 600, streamed, i));
    model.host_waits.push_back(host_wait_row(2, begin + 1'000, streamed + 5'000, i));
    model.signals.push_back(signal_row(1, kHostDevice, 0, streamed + 6'000, i));
    for (std::uint32_t w = 0; w < waiters; ++w) {
      model.waits.push_back(wait_row(1, w, begin, streamed + 10'000, i));
      model.waits.back().sm = w % 132;
      // The host serves one look per microsecond.
      model.waits.back().polls = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(work / 1'000) / waiters);
    }
    kernel.end = streamed + 11'000;
    model.kernels.push_back(kernel);
    begin = kernel.end + 5'000;
  }
  settle(model);
  return model;
}

Prediction predicted(const TraceModel& model) {
  return predict(model, critical_path(model, match(model)), Modes(model), site_stats(model));
}

const SitePrediction& at_site(const Prediction& prediction, SiteId site) {
  for (const SitePrediction& p : prediction.sites) {
    if (p.site == site) return p;
  }
  throw std::out_of_range("site");
}

// An iteration of the path beside streaming work, by hand: 900 us of streaming, 5 us until the CPU notices, 1 us of CPU
// work, 4 us until the waiters notice, 1 us of their work, 5 us to the next kernel. Parked: 900 us / 125.44, twice 3.84
// us, 1, 1 and 5 us.
TEST(Prediction, BoundsTheHotWordInHostMemoryAndNamesWhatMeasuresIt) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1);
  model.meta["command"] = "./hot --fast";
  const Prediction prediction = predicted(model);
  // Beside work that only computes nothing is gained; beside work that streams, a hundred times.
  EXPECT_FALSE(prediction.program);
  EXPECT_NE(prediction.reason.find("wic-prof run --ab -- ./hot --fast"), std::string::npos) << prediction.reason;
  ASSERT_TRUE(prediction.bounds) << prediction.reason;
  const double by_hand = 916.0 / (900 / calibration::kHostWord[8].streaming + 2 * 3.84 + 1 + 1 + 5);
  EXPECT_NEAR(prediction.bounds->value, by_hand, 0.03 * by_hand);
  EXPECT_LE(prediction.bounds->low, 1.05);
  EXPECT_GT(prediction.bounds->high, prediction.bounds->value);
  const SitePrediction& flag = at_site(prediction, 1);
  EXPECT_FALSE(flag.gain);
  ASSERT_TRUE(flag.bounds);
  EXPECT_NEAR(flag.bounds->value, prediction.bounds->value, 1e-9);
  EXPECT_NE(flag.reason.find("between"), std::string::npos) << flag.reason;
  EXPECT_NEAR(flag.pollers_per_word, 528, 1);
  EXPECT_NEAR(flag.exposed, 900.0 / 916, 0.01);
  EXPECT_EQ(flag.break_even_ns, calibration::kShortestBreakEven);
  EXPECT_FALSE(at_site(prediction, 2).bounds);  // the CPU's own wait
}

TEST(Prediction, LeavesOutTheTimeBeforeTheFirstIteration) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1);
  const double alone = predicted(model).bounds.value().value;
  store::HostWaitRow start_up = host_wait_row(0, model.begin - 900'000'000, model.begin - 899'000'000);
  start_up.call = "cudaMalloc";
  model.host_waits.insert(model.host_waits.begin(), start_up);
  settle(model);
  EXPECT_NEAR(predicted(model).bounds.value().value, alone, 0.02 * alone);
}

// The gain of such a program was measured as 1.0 and as 2.3, with looks that take equally long.
TEST(Prediction, OfFewPollersOfAHostWordIsUnknown) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1, 8);
  for (const bool queue : {true, false}) {
    const Prediction prediction = predicted(model);
    EXPECT_FALSE(prediction.program) << queue;
    ASSERT_TRUE(prediction.bounds);
    EXPECT_LE(prediction.bounds->low, 1.05);
    EXPECT_GT(prediction.bounds->high, 2.3);
    for (auto& wait : model.waits) wait.polls *= 6;
  }
}

// No value of an interval that is an answer is further from the answer than a quarter.
TEST(Prediction, AnswersOnlyWhatItCanBeSureOf) {
  std::size_t answers = 0, open = 0;
  for (std::uint32_t waiters = 1; waiters <= 600; waiters = waiters * 3 / 2 + 1) {
    for (const WordMemory memory : {WordMemory::pinned_host, WordMemory::device}) {
      const Prediction prediction = predicted(hot_word(memory, 1, waiters));
      ASSERT_TRUE(prediction.bounds) << prediction.reason;
      const Gain& bounds = *prediction.bounds;
      const double most = std::max(bounds.high / bounds.value, bounds.value / bounds.low);
      EXPECT_EQ(prediction.program.has_value(), most <= calibration::kMostError) << waiters;
      ++(prediction.program ? answers : open);
    }
  }
  EXPECT_GT(answers, 10u);
  EXPECT_GT(open, 5u);
}

TEST(Prediction, OfOneWordPerWaiterIsNoGain) {
  const Prediction prediction = predicted(hot_word(WordMemory::device, 0));
  ASSERT_TRUE(prediction.program) << prediction.reason;
  EXPECT_NEAR(prediction.program->value, 1, 0.03);
  EXPECT_LE(prediction.program->low, prediction.program->value);
  EXPECT_GE(prediction.program->high, prediction.program->value);
  EXPECT_FALSE(at_site(prediction, 1).break_even_ns);
  EXPECT_FALSE(at_site(prediction, 1).break_even_reason.empty());
}

TEST(Prediction, IsRefusedWithAReasonOutsideTheModel) {
  const auto refused = [](const TraceModel& model, const std::string& word) {
    const Prediction prediction = predicted(model);
    EXPECT_FALSE(prediction.program);
    EXPECT_NE(prediction.reason.find(word), std::string::npos) << prediction.reason;
  };
  refused(hot_word(WordMemory::managed, 1), "managed");
  refused(hot_word(WordMemory::unknown, 1), "does not say");
  TraceModel without_signals = hot_word(WordMemory::pinned_host, 1);
  without_signals.signals.clear();
  without_signals.calls.clear();
  refused(without_signals, "critical path");
  refused(renamed_devices(hot_word(WordMemory::pinned_host, 1), [](DeviceId) { return DeviceId{kSimtDeviceBase}; }),
          "CPU device");
  TraceModel parked = hot_word(WordMemory::pinned_host, 1);
  parked.meta["mode"] = "park";
  for (auto& wait : parked.waits) wait.strategy = StrategyId::shared_watch;
  refused(parked, "polled");
}

TEST(Prediction, IgnoresTheParkedTimes) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1);
  const double alone = predicted(model).bounds.value().value;
  // The same program again, parked and five times as fast.
  const TimeNs offset = model.end + 10'000 - model.begin;
  TraceModel parked = shifted(hot_word(WordMemory::pinned_host, 1, 528, 100'000), offset);
  for (auto& wait : parked.waits) {
    wait.strategy = StrategyId::shared_watch;
    wait.iteration += 60;
    wait.value += 60;
  }
  for (auto& signal : parked.signals) {
    signal.iteration += 60;
    signal.value += 60;
  }
  for (auto& wait : parked.host_waits) wait.iteration += 60;
  for (auto& call : parked.calls) {
    call.start += offset;
    call.end += offset;
    call.correlation += 60;
  }
  for (auto& kernel : parked.kernels) kernel.correlation += 60;
  store::InterventionRow row{};
  row.old_mode = Mode::poll;
  row.new_mode = Mode::park;
  row.requested = row.effective = model.end + 5'000;
  model.interventions.push_back(row);
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(model.waits, parked.waits);
  append(model.signals, parked.signals);
  append(model.host_waits, parked.host_waits);
  append(model.kernels, parked.kernels);
  append(model.calls, parked.calls);
  settle(model);
  const Prediction prediction = predicted(model);
  ASSERT_TRUE(prediction.bounds) << prediction.reason;
  EXPECT_NEAR(prediction.bounds->value, alone, 0.05 * alone);

  const Comparison comparison = compare(model);
  ASSERT_TRUE(comparison.speedup);
  EXPECT_FALSE(comparison.predicted);
  EXPECT_TRUE(comparison.predicted_bounds);
  EXPECT_FALSE(comparison.prediction_error);
  for (auto& site : model.sites) site.word_memory = WordMemory::device;
  const Comparison harmless = compare(model);
  ASSERT_TRUE(harmless.predicted) << harmless.predicted_reason;
  ASSERT_TRUE(harmless.prediction_error);
  EXPECT_NEAR(*harmless.prediction_error, harmless.predicted->value / harmless.speedup->value - 1, 1e-9);
}

TEST(Prediction, MorePollersOfOneWordNeverSlowLess) {
  SiteStats site;
  site.declared = true;
  site.words = 1;
  std::string why;
  for (const WordMemory memory : {WordMemory::pinned_host, WordMemory::device}) {
    site.word_memory = memory;
    double last = 0;
    for (double pollers = 2; pollers < 5'000; pollers *= 1.3) {
      const auto range = slowdown_beside(site, pollers, why);
      ASSERT_TRUE(range);
      EXPECT_LE(range->by_work.low, range->by_work.value);
      EXPECT_GE(range->by_work.high, range->by_work.value);
      if (memory == WordMemory::pinned_host) {
        EXPECT_GE(range->by_work.value, last);
      }
      last = range->by_work.value;
    }
  }
  site.word_memory = WordMemory::device;
  site.pollers = Pollers::each_thread;
  EXPECT_NEAR(slowdown_beside(site, 24, why)->by_work.value, 1 + (calibration::kEachThread[1].streaming - 1) / 2, 1e-9);
}

std::map<std::string, double> results(const std::string& file) {
  std::ifstream in(std::string(WICPROF_SOURCE) + "/docs/results/" + file);
  const auto json = nlohmann::json::parse(in);
  std::map<std::string, double> rows;
  for (const auto& row : json["rows"]) rows.try_emplace(row["name"], row["value"].get<double>());
  return rows;
}

nlohmann::json params(const std::string& file, const std::string& name) {
  std::ifstream in(std::string(WICPROF_SOURCE) + "/docs/results/" + file);
  const nlohmann::json results = nlohmann::json::parse(in);
  for (const auto& row : results["rows"]) {
    if (row["name"] == name) return row["params"];
  }
  throw std::out_of_range(name);
}

TEST(Prediction, UnevenBlocksAreTheMostThatWasMeasured) {
  double most = 0;
  for (const auto& [name, value] : results("block_times.h100.json")) most = std::max(most, value);
  EXPECT_LE(most, kUneven);
  EXPECT_GT(most, kUneven - 0.1);
}

TEST(Prediction, ConstantsMatchTheResultFiles) {
  const auto one = results("interference.h200.json");
  const auto peer = results("interference_peer.h200x2.json");
  const auto expect_anchor = [](const auto& rows, const std::string& name, const calibration::Slowdown& anchor,
                                bool all) {
    const auto ratio = [&](const char* bound) {
      return rows.at(name + "_" + bound + "_poll") / rows.at(name + "_" + bound + "_auto");
    };
    EXPECT_NEAR(anchor.streaming / ratio("streaming"), 1, 1e-3) << name;
    EXPECT_NEAR(anchor.l2_latency / ratio("l2_latency"), 1, 1e-3) << name;
    if (!all) return;
    EXPECT_NEAR(anchor.compute / ratio("fp32"), 1, 1e-3) << name;
    EXPECT_NEAR(anchor.shared_memory / ratio("shared_memory"), 1, 1e-3) << name;
  };
  expect_anchor(one, "blocks_host_one", calibration::kHostWord[8], true);
  expect_anchor(one, "many_host_one", calibration::kHostWord[9], false);
  expect_anchor(one, "blocks_device_one", calibration::kDeviceWord[1], true);
  expect_anchor(one, "many_device_one", calibration::kDeviceWord[2], false);
  expect_anchor(one, "blocks_device_lines", calibration::kDeviceLines[0], true);
  expect_anchor(one, "blocks_host_lines", calibration::kHostLines[0], true);
  expect_anchor(one, "inside_device_one", calibration::kEachThread[1], true);
  expect_anchor(peer, "peer_peer_lines", calibration::kPeerLines[0], true);
  expect_anchor(peer, "peer_peer_one", calibration::kPeerWord[1], true);
  const double elsewhere = params("prediction_hot_flag.h100.json", "hot_flag_default").at("measured");
  EXPECT_NEAR(calibration::kHostWordSpread, elsewhere / calibration::kHostWord[8].streaming, 1e-2);

  std::ifstream in(std::string(WICPROF_SOURCE) + "/docs/results/threads.h200.json");
  const nlohmann::json file = nlohmann::json::parse(in);
  for (const auto& row : file["rows"]) {
    const std::string name = row["name"];
    if (name.rfind("host_", 0) != 0 || !row["params"].contains("waiting_groups")) continue;
    for (const calibration::Slowdown& anchor : calibration::kHostWord) {
      const double groups = row["params"]["waiting_groups"];
      if (anchor.pollers != groups || groups < 2 || groups > 256) continue;
      EXPECT_NEAR(anchor.streaming / row["ratio"].get<double>(), 1, 1e-3) << name;
    }
  }
  const auto wake = results("wake_latency.h200.json");
  EXPECT_DOUBLE_EQ(wake.at("device_few_poll_p50") * 1'000, calibration::kWakePolled);
  EXPECT_DOUBLE_EQ(wake.at("device_few_leader_bar_sync_p50") * 1'000, calibration::kWakeParked);
  EXPECT_DOUBLE_EQ(wake.at("host_few_auto_p50") * 1'000, calibration::kWakeWatchedHostWord);
  const auto cost = results("record_cost.h200.json");  // the first of each name: one block
  EXPECT_NEAR(cost.at("wait_recorded") - cost.at("wait_unrecorded"), calibration::kRecordCost, 1);
  EXPECT_DOUBLE_EQ(results("break_even.h200.json").at("break_even_host_word"), calibration::kShortestBreakEven);
}

// One kernel with 64 waiters, which poll for 50 ms and park for 50 ms; beside it 20 kernels of 2 ms, then 20 of 1 ms.
TEST(Interference, ComparesKernelsBesidePollersWithKernelsBesideParkedWaiters) {
  test_program::Program program;
  program.kernel("waiting", 1, {1'000'000, 101'000'000}).grid[0] = 64;
  program.model.sites.push_back({1, "flag", WordMemory::pinned_host, Pollers::leader, 1});
  for (std::uint32_t w = 0; w < 64; ++w) {
    program.model.waits.push_back(wait_row(1, w, 1'000'000, 51'000'000));
    program.model.waits.push_back(wait_row(1, w, 51'000'001, 101'000'000, 1));
    program.model.waits.back().strategy = StrategyId::shared_watch;
  }
  for (TimeNs i = 0; i < 20; ++i) {
    program.kernel("stream", 2, {2'000'000 + i * 2'400'000, 4'000'000 + i * 2'400'000});
    program.kernel("stream", 2, {52'000'000 + i * 2'400'000, 53'000'000 + i * 2'400'000});
  }
  store::InterventionRow row{};
  row.old_mode = Mode::poll;
  row.new_mode = Mode::park;
  row.requested = row.effective = 51'000'000;
  program.model.interventions.push_back(row);
  const TraceModel& model = program.settled();
  const Waiters waiters(model);
  const Interference found = interference(model, waiters, WaitKernels(model, waiters), Modes(model));
  ASSERT_EQ(found.works.size(), 1u) << found.missing;
  const SlowedWork& work = found.works[0];
  EXPECT_TRUE(work.by_toggle);
  EXPECT_NE(work.what.find("stream"), std::string::npos);
  EXPECT_EQ(work.many_spans, 20u);
  EXPECT_EQ(work.few_spans, 20u);
  EXPECT_DOUBLE_EQ(work.many_pollers, 64);
  EXPECT_DOUBLE_EQ(work.few_pollers, 0);
  EXPECT_DOUBLE_EQ(work.slowdown.value, 2);
  EXPECT_DOUBLE_EQ(work.slowdown.low, 2);
}

TEST(Interference, NeedsTimesWithFewerPollers) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1, 64);
  const Waiters waiters(model);
  const Interference found = interference(model, waiters, WaitKernels(model, waiters), Modes(model));
  EXPECT_TRUE(found.works.empty());
  EXPECT_NE(found.missing.find("--schedule"), std::string::npos);
}

// Blocks A and B on one SM: A waits from 10 to 20 and 35 to 36 ms, B from 15 to 30; both compute before and between.
TEST(Overlap, CountsTheTimeInWhichTheOtherBlockComputes) {
  test_program::Program program;
  program.kernel("both", 1, {1, 40'000'001}).grid[0] = 2;
  program.model.sites.push_back({1, "flag", WordMemory::device, Pollers::leader, 0});
  program.model.waits.push_back(wait_row(1, 0, 10'000'001, 20'000'001));
  program.model.waits.push_back(wait_row(1, 0, 35'000'001, 36'000'001, 1));
  program.model.waits.push_back(wait_row(1, 1, 15'000'001, 30'000'001));
  const TraceModel& model = program.settled();
  const Waiters waiters(model);
  const Overlaps overlaps = overlap(model, waiters, WaitKernels(model, waiters), Modes(model));
  ASSERT_EQ(overlaps.modes.size(), 1u);
  EXPECT_NEAR(overlaps.modes[0].seen, 15.0 / 26, 1e-9);
  EXPECT_NEAR(overlaps.modes[0].at_most.value_or(0), 15.0 / 26, 1e-9);

  program.model.kernels[0].grid[0] = 3;  // a third block that never waits may compute all the time
  const TraceModel& third = program.settled();
  const Overlaps more = overlap(third, waiters, WaitKernels(third, waiters), Modes(third));
  EXPECT_NEAR(more.modes.at(0).seen, 15.0 / 26, 1e-9);
  EXPECT_NEAR(more.modes.at(0).at_most.value_or(0), 1, 1e-9);
}

}  // namespace
}  // namespace wicprof::analyzer
