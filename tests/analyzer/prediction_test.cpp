// The prediction from the critical path, and its constants.
#include "analyzer/path/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/analysis.h"
#include "analyzer/compare/compare.h"
#include "analyzer/path/prediction_constants.h"
#include "analyzer/work/tile_gain.h"
#include "path_rows.h"
#include "program.h"
#include "store/read/reader.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

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
TEST(Prediction, BoundsTheHotWordInHostMemory) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1);
  const Prediction prediction = predicted(model);
  // Beside work that only computes nothing is gained; beside work that streams, a hundred times.
  EXPECT_FALSE(prediction.program);
  ASSERT_TRUE(prediction.bounds) << prediction.reason;
  const double by_hand = 916.0 / (900 / calibration::kHostWord[8].streaming + 2 * 3.84 + 1 + 1 + 5);
  EXPECT_NEAR(prediction.bounds->value, by_hand, 0.03 * by_hand);
  EXPECT_LE(prediction.bounds->low, 1.05);
  EXPECT_GT(prediction.bounds->high, prediction.bounds->value);
  const SitePrediction& flag = at_site(prediction, 1);
  EXPECT_FALSE(flag.gain);
  ASSERT_TRUE(flag.bounds);
  EXPECT_NEAR(flag.bounds->value, prediction.bounds->value, 1e-9);
  EXPECT_NE(flag.reason.find("times shorter to "), std::string::npos) << flag.reason;
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
  model.host_waits.push_back(start_up);
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
    model.waits.edit_all([&](auto& wait) { wait.polls *= 6; });
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
  parked.waits.edit_all([&](auto& wait) { wait.strategy = StrategyId::shared_watch; });
  refused(parked, "polled");
}

TEST(Prediction, IgnoresTheParkedTimes) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1);
  const double alone = predicted(model).bounds.value().value;
  // The same program again, parked and five times shorter.
  const TimeNs offset = model.end + 10'000 - model.begin;
  TraceModel parked = shifted(hot_word(WordMemory::pinned_host, 1, 528, 100'000), offset);
  parked.waits.edit_all([&](auto& wait) {
    wait.strategy = StrategyId::shared_watch;
    wait.iteration += 60;
    wait.value += 60;
  });
  parked.signals.edit_all([&](auto& signal) {
    signal.iteration += 60;
    signal.value += 60;
  });
  parked.host_waits.edit_all([&](auto& wait) { wait.iteration += 60; });
  parked.calls.edit_all([&](auto& call) {
    call.start += offset;
    call.end += offset;
    call.correlation += 60;
  });
  parked.kernels.edit_all([&](auto& kernel) { kernel.correlation += 60; });
  store::InterventionRow row{};
  row.old_mode = Mode::poll;
  row.new_mode = Mode::park;
  row.requested = row.effective = model.end + 5'000;
  model.interventions.push_back(row);
  const auto append = [](auto& to, const auto& from) {
    for (const auto& each : from) to.push_back(each);
  };
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

// The shipped recordings of hot_flag, which take the same steps in both modes.
TEST(Prediction, HostSlowedCoversTheShippedTraces) {
  const auto mean_ns = [](const char* mode, PathKind kind) {
    const std::string file = std::string(WICPROF_SOURCE) + "/samples/traces/hot_flag." + mode + ".wicprof.gz";
    const Result<store::Reader> reader = store::Reader::open(file);
    EXPECT_TRUE(reader) << reader.error().message;
    const Result<TraceModel> model = load(*reader, "hot_flag");
    EXPECT_TRUE(model);
    for (const PathShare& share : critical_path(*model, match(*model)).shares) {
      if (share.kind == kind) return static_cast<double>(share.total_ns) / static_cast<double>(share.count);
    }
    return 0.0;
  };
  double most = 0;
  for (const PathKind kind : {PathKind::host_work, PathKind::launch, PathKind::host_return})
    most = std::max(most, mean_ns("poll", kind) / mean_ns("park", kind));
  EXPECT_LE(most, calibration::kHostSlowed);
  EXPECT_GT(most, 0.5 * calibration::kHostSlowed);
}

}  // namespace
}  // namespace wicprof::analyzer
