// Which sites are locks and queues, at which one waiter hands the word on to the next.
#include "analyzer/path/handed_on.h"

#include <gtest/gtest.h>

#include <functional>

#include "analyzer/analysis.h"
#include "analyzer/path/predict.h"
#include "findings.h"
#include "path_rows.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

constexpr std::uint32_t kBlocks = 8;
constexpr TimeNs kFirstTurn = 1'000'000'000, kTurn = 10'000;

TraceModel empty(WordMemory memory) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "word", memory);
  model.begin = kFirstTurn;
  return model;
}

void add_wait(TraceModel& model, std::uint32_t block, TimeNs arrived, TimeNs resumed, WordTag word) {
  store::WaitRow wait = wait_row(1, block, arrived, resumed);
  wait.word = word;
  model.waits.push_back(wait);
}
void add_signal(TraceModel& model, std::uint32_t block, TimeNs at, WordTag word) {
  store::SignalRow signal = signal_row(1, 0, block, at);
  signal.word = word;
  model.signals.push_back(signal);
}

std::set<SiteId> found(TraceModel& model) {
  model.end = kFirstTurn + 10'000'000;
  settle(model);
  return handed_on_sites(model, site_stats(model));
}

/// Blocks in turn: each waits from the end of its last turn on, holds the lock for half a turn, and releases it.
TraceModel lock(WordMemory memory = WordMemory::device) {
  TraceModel model = empty(memory);
  for (std::uint32_t turn = 0; turn < 20 * kBlocks; ++turn) {
    const TimeNs begin = kFirstTurn + turn * kTurn, came = std::max(kFirstTurn, begin - (kBlocks - 1) * kTurn);
    add_wait(model, turn % kBlocks, came, begin + 2'000, 5);
    add_signal(model, turn % kBlocks, begin + kTurn - 100, 5);
  }
  return model;
}

TEST(HandedOn, ALockIsHandedOn) {
  TraceModel model = lock();
  EXPECT_EQ(found(model), std::set<SiteId>{1});
  const Prediction prediction = predict(model, critical_path(model, match(model)), Modes(model), site_stats(model));
  EXPECT_FALSE(prediction.program);
  EXPECT_FALSE(prediction.bounds);
  EXPECT_NE(prediction.reason.find("hand the word on"), std::string::npos) << prediction.reason;
}

TEST(HandedOn, TheAdviceNamesWhatParkingWouldLose) {
  TraceModel model = lock();
  model.sites.front().pollers = Pollers::leader;
  found(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "no_gain"), nullptr);
  EXPECT_NE(find(analysis, "no_gain")->text.find("parking may even lose there"), std::string::npos);
}

TEST(HandedOn, OnlyWordsInDeviceMemoryCount) {
  TraceModel model = lock(WordMemory::pinned_host);
  EXPECT_TRUE(found(model).empty());
}

// All come, the last one releases all.
TEST(HandedOn, ABarrierIsNot) {
  TraceModel model = empty(WordMemory::device);
  for (std::uint32_t round = 0; round < 20; ++round) {
    const TimeNs begin = kFirstTurn + round * 100'000;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      add_signal(model, block, begin + block * 1'000, 5);
      add_wait(model, block, begin + block * 1'000 + 100, begin + 10'000, 5);
    }
  }
  EXPECT_TRUE(found(model).empty());
}

// One block works and releases many.
TEST(HandedOn, AFlagIsNot) {
  TraceModel model = empty(WordMemory::device);
  for (std::uint32_t round = 0; round < 20; ++round) {
    const TimeNs begin = kFirstTurn + round * 100'000;
    for (std::uint32_t block = 0; block < kBlocks; ++block) add_wait(model, block, begin, begin + 50'000, 5);
    add_signal(model, kBlocks, begin + 49'000, 5);
  }
  EXPECT_TRUE(found(model).empty());
}

// Two blocks answer each other, each at a word of its own.
TEST(HandedOn, AnExchangeIsNot) {
  TraceModel model = empty(WordMemory::device);
  for (std::uint32_t turn = 0; turn < 100; ++turn) {
    const TimeNs begin = kFirstTurn + turn * kTurn;
    const std::uint32_t block = turn % 2;
    add_wait(model, block, begin, begin + kTurn, static_cast<WordTag>(5 + block));
    add_signal(model, 1 - block, begin + kTurn - 1'000, static_cast<WordTag>(5 + block));
  }
  EXPECT_TRUE(found(model).empty());
}

}  // namespace
}  // namespace wicprof::analyzer
