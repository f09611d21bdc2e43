// What a running program's steps are, by its events: for `run --ab` of host waits.
#include "cli/record/iteration_meter.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wicprof::cli {
namespace {

constexpr TimeNs kStep = 10 * kMillisecond;
constexpr std::size_t kSteps = 20, kLaunches = 5;

class IterationMeterTest : public ::testing::Test {
 protected:
  IterationMeterTest() { meter_.enable(WaitSide::host); }

  void see(const EventHeader& event, std::size_t ring = 0) {
    meter_.see(ring, event, [&](TextId id) { return texts_[{ring, id}]; });
  }
  void range(const std::string& name, TimeNs start, TimeNs length, std::size_t ring = 0) {
    auto event = make_event<NvtxEvent>();
    event.name = ++newest_;
    texts_[{ring, newest_}] = name;
    event.start_ns = start;
    event.end_ns = start + length;
    see(event.header, ring);
  }
  /// Steps after all that came before, each with launches and ranges that `ranges` adds.
  void steps(const std::function<void(std::size_t number, TimeNs begin)>& ranges) {
    for (std::size_t i = 0; i < kSteps; ++i, at_ += kStep) {
      for (std::size_t launch = 0; launch < kLaunches; ++launch) {
        auto kernel = make_event<KernelEvent>();
        kernel.name = 1;
        kernel.start_ns = at_ + static_cast<TimeNs>(launch) * kMillisecond;
        see(kernel.header);
      }
      ranges(i, at_);
    }
  }

  IterationMeter meter_;
  std::map<std::pair<std::size_t, TextId>, std::string> texts_;
  TextId newest_ = 1;
  TimeNs at_ = now_ns() + kSecond;
};

TEST_F(IterationMeterTest, RangesWhoseNamesDifferInNumbersAreSteps) {
  steps([&](std::size_t number, TimeNs begin) { range("step " + std::to_string(number), begin, 7 * kMillisecond); });
  EXPECT_EQ(meter_.peek(), std::vector<TimeNs>(kSteps, 7 * kMillisecond));
  EXPECT_EQ(meter_.take().size(), kSteps);
  // What was chosen stays, and goes on with names that come for the first time.
  at_ += kSecond;
  steps([&](std::size_t number, TimeNs begin) {
    range("step " + std::to_string(kSteps + number), begin, 6 * kMillisecond);
    range("forward", begin, 6 * kMillisecond);
  });
  EXPECT_EQ(meter_.take(), std::vector<TimeNs>(kSteps, 6 * kMillisecond));
}

TEST_F(IterationMeterTest, ARangeThatRepeatsUnderItsWholeNameComesFirst) {
  steps([&](std::size_t number, TimeNs begin) {
    range("step " + std::to_string(number), begin, 7 * kMillisecond);
    range("forward", begin, kMillisecond);
  });
  EXPECT_EQ(meter_.peek(), std::vector<TimeNs>(kSteps, kMillisecond));
}

TEST_F(IterationMeterTest, NumberedPartsOfAStepAreNoSteps) {
  // Each layer comes four times: too rarely for a step by itself.
  steps(
      [&](std::size_t number, TimeNs begin) { range("layer " + std::to_string(number % 5), begin, 7 * kMillisecond); });
  EXPECT_EQ(meter_.peek().size(), kSteps * kLaunches - 1) << "launches";
}

TEST_F(IterationMeterTest, ProcessesNumberTheirStepsAlike) {
  steps([&](std::size_t number, TimeNs begin) {
    for (const std::size_t ring : {1, 2}) range("step " + std::to_string(number), begin, 7 * kMillisecond, ring);
  });
  EXPECT_EQ(meter_.peek(), std::vector<TimeNs>(kSteps, 7 * kMillisecond));
}

TEST_F(IterationMeterTest, WhatOnlyTheStartShowsGivesWay) {
  for (std::size_t i = 0; i < 40; ++i, at_ += kStep) range("load shard", at_, 9 * kMillisecond);
  EXPECT_EQ(meter_.take().size(), 40u);
  const auto step = [&](std::size_t, TimeNs begin) { range("step", begin, kMillisecond); };
  at_ += kSecond;
  steps(step);
  EXPECT_TRUE(meter_.take().empty()) << "the start was chosen";
  at_ += kSecond;
  steps(step);
  EXPECT_EQ(meter_.take(), std::vector<TimeNs>(kSteps, kMillisecond));
}

TEST_F(IterationMeterTest, ManyStepsLeaveRoomForWhatComesLater) {
  for (std::size_t i = 0; i < 10'000; ++i, at_ += kStep) range("step " + std::to_string(i), at_, kMillisecond);
  steps([&](std::size_t number, TimeNs begin) { range("batch " + std::to_string(number), begin, kSecond * 60); });
  EXPECT_EQ(meter_.peek(), std::vector<TimeNs>(kSteps, kSecond * 60)) << "what takes the longest in all";
}

}  // namespace
}  // namespace wicprof::cli
