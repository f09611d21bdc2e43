// Finding iterations, and how often each side sends per iteration.
#include "analyzer/communication/rhythm.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <vector>

namespace wicprof::analyzer {
namespace {

// Twelve iterations of 20 messages each way. A full ring dropped a part of most of them, so the counts vary more than
// if single messages had been lost independently.
TEST(Rhythm, LossesInFullRingsAreNoVariation) {
  const std::uint32_t counts[] = {20, 4, 20, 16, 2, 20, 9, 18, 5, 20, 13, 20};
  std::vector<Step> steps;
  std::size_t messages = 0;
  for (std::uint32_t i = 0; i < std::size(counts); ++i) {
    for (std::uint32_t k = 0; k < 2 * counts[i]; ++k) {
      Step step{};
      step.iteration = i + 1;
      step.back = k % 2 != 0;
      step.at = TimeNs{1'000'000} * i + 1'000 * k;
      steps.push_back(step);
    }
    messages += 2 * counts[i];
  }
  const double recorded = static_cast<double>(messages) / (2 * 20 * std::size(counts));
  EXPECT_EQ(find_rhythm(steps, {0.95, 0.95, 1}).model, Model::probabilistic)
      << "independent losses would not vary this much";
  EXPECT_EQ(find_rhythm(steps, {0.95, 0.95, recorded}).model, Model::unknown);
  EXPECT_EQ(find_rhythm(steps, {0.95, 0.95, 0.95}).model, Model::probabilistic) << "so few losses explain nothing";
}

// 128 messages each way, of which the trace holds half. If waits without a signal stood for further messages, it would
// hold three quarters; 64 of 85 messages vary too much for that.
TEST(Rhythm, PossiblyLargerLossesAreNoVariation) {
  std::mt19937 draw(11);
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 300; ++i) {
    for (std::uint32_t k = 0; k < 64; ++k) {
      if (draw() % 2 == 0) continue;
      for (const bool back : {false, false, true, true}) {  // two at a time
        Step step{};
        step.iteration = i + 1;
        step.back = back;
        step.at = TimeNs{1'000'000} * i + 1'000 * k;
        steps.push_back(step);
      }
    }
  }
  EXPECT_EQ(find_rhythm(steps, {0.75, 0.75, 1}).model, Model::probabilistic) << "so few losses would not explain it";
  EXPECT_EQ(find_rhythm(steps, {0.75, 0.5, 1}).model, Model::unknown);
}

TEST(Rhythm, OneSideAloneIsUnknownIfTheOthersRingWasFull) {
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 40; ++i) {
    Step step{};
    step.iteration = i + 1;
    step.at = TimeNs{1'000'000} * i;
    steps.push_back(step);
  }
  EXPECT_EQ(find_rhythm(steps, {}).model, Model::unidirectional);
  EXPECT_EQ(find_rhythm(steps, {0.9, 0.9, 0.5}).model, Model::unknown);
}

/// Iterations 1 and up with these counts, one after the other.
std::vector<Step> in_iterations(const std::vector<Counts>& counts) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::uint32_t k = 0; k < counts[i].both(); ++k) {
      Step step{};
      step.iteration = static_cast<std::uint32_t>(i) + 1;
      step.back = k >= counts[i].forth;
      step.at = static_cast<TimeNs>(1'000'000 * i + 1'000 * k);
      steps.push_back(step);
    }
  }
  return steps;
}

// The counts of the first third return in the last one, so no count stays within a part of the run.
TEST(Rhythm, PhasesMayReturn) {
  std::vector<Counts> counts;
  for (const Counts phase : {Counts{2, 3}, Counts{2, 1}, Counts{2, 3}}) counts.insert(counts.end(), 20, phase);
  EXPECT_EQ(find_rhythm(in_iterations(counts), {}).model, Model::unknown);
}

TEST(Rhythm, CountsThatChangeAtRandomAreNoPhases) {
  std::mt19937 draw(5);
  std::vector<Counts> counts;
  for (std::uint32_t i = 0; i < 60; ++i) counts.push_back(draw() % 2 == 0 ? Counts{2, 3} : Counts{2, 1});
  EXPECT_EQ(find_rhythm(in_iterations(counts), {}).model, Model::probabilistic);
}

// A thread that waits for nobody sends its one message per iteration long before the other side's 69.
TEST(Rhythm, ASideThatSendsLittleInEveryIterationTakesTurns) {
  std::vector<Step> steps = in_iterations(std::vector<Counts>(12, Counts{69, 0}));
  for (Step& step : steps) step.source = 0;
  for (std::uint32_t i = 0; i < 12; ++i) {
    Step step{};
    step.iteration = i + 1;
    step.back = true;
    step.at = 10 * i;
    step.source = 1;
    steps.insert(steps.begin() + i, step);
  }
  EXPECT_EQ(find_rhythm(steps, {}).model, Model::multiple);
  // Without numbers, these may be messages of the program's start.
  for (Step& step : steps) step.iteration = 0;
  EXPECT_LE(find_rhythm(steps, {}).confidence, 0.75);
}

TEST(Rhythm, AResultAtTheEndLeavesOneSideProducing) {
  std::mt19937 draw(6);
  std::vector<Counts> counts;
  for (std::uint32_t i = 0; i < 12; ++i) counts.push_back({1 + static_cast<std::uint32_t>(draw() % 4), 0});
  counts.push_back({0, 1});
  EXPECT_EQ(find_rhythm(in_iterations(counts), {}).model, Model::unidirectional);
}

// The last iteration of the first run has no message, which only the other runs show.
TEST(Rhythm, NumbersThatStartAgainShowMissingIterations) {
  std::vector<Step> steps;
  for (std::uint32_t run = 0; run < 3; ++run) {
    for (std::uint32_t i = 1; i <= (run == 0 ? 11u : 12u); ++i) {
      for (const bool back : {false, true, true}) {
        Step step{};
        step.iteration = i;
        step.back = back;
        step.at = 100'000 * run + 1'000 * i + (back ? 10 : 0);
        steps.push_back(step);
      }
    }
  }
  EXPECT_LE(find_rhythm(steps, {}).confidence, 0.75);
  for (std::size_t i = 0; i < 3; ++i) steps.insert(steps.begin() + 33, steps[32 - i]);
  for (std::size_t i = 33; i < 36; ++i) steps[i].iteration = 12;
  const Rhythm all = find_rhythm(steps, {});
  EXPECT_EQ(all.model, Model::multiple);
  EXPECT_GT(all.confidence, 0.8);
}

TEST(Rhythm, AnEmptyIterationBesideTheFirstOneIsAGap) {
  std::vector<Counts> counts(30, Counts{1, 1});
  EXPECT_GT(find_rhythm(in_iterations(counts), {}).confidence, 0.8);
  counts[1] = {};
  EXPECT_LE(find_rhythm(in_iterations(counts), {}).confidence, 0.75);
}

// Balanced iterations of different sizes look like longer iterations of one size.
TEST(Rhythm, ARepetitionWithACommonDivisorIsNotSure) {
  std::vector<Step> steps = in_iterations(std::vector<Counts>(40, Counts{6, 6}));
  for (Step& step : steps) step.iteration = 0;
  const Rhythm rhythm = find_rhythm(steps, {});
  EXPECT_EQ(rhythm.model, Model::multiple);
  EXPECT_LE(rhythm.confidence, 0.75);
}

/// Messages in strict turns, `turns` each way in each of 60 numbered iterations.
std::vector<Step> in_turns(std::uint32_t turns) {
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 60; ++i) {
    for (std::uint32_t k = 0; k < 2 * turns; ++k) {
      Step step{};
      step.iteration = i + 1;
      step.back = k % 2 != 0;
      step.at = TimeNs{1'000'000} * i + 1'000 * k;
      step.received = step.at + 100;
      steps.push_back(step);
    }
  }
  return steps;
}

// Sides that send several messages each, and wait for room in between, take turns, too.
TEST(Rhythm, TurnsThatAreNoIterationsAreNotSure) {
  EXPECT_GT(find_rhythm(in_turns(1), {1, 1, 1}).confidence, 0.9);
  const Rhythm several = find_rhythm(in_turns(5), {1, 1, 1});
  EXPECT_LE(several.confidence, 0.75);
  std::vector<Step> unnumbered = in_turns(1);
  for (Step& step : unnumbered) step.iteration = 0;
  const Rhythm by_order = find_rhythm(unnumbered, {1, 1, 1});
  EXPECT_EQ(by_order.model, Model::alternating);
  EXPECT_LE(by_order.confidence, 0.75);
}

// It may be the begin of a phase.
TEST(Rhythm, AnEndWithOtherCountsIsNotSure) {
  std::vector<Step> steps = in_turns(1);
  steps.pop_back();
  const Rhythm rhythm = find_rhythm(steps, {1, 1, 1});
  EXPECT_EQ(rhythm.model, Model::alternating);
  EXPECT_LE(rhythm.confidence, 0.75);
}

}  // namespace
}  // namespace wicprof::analyzer
