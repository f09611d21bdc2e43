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

}  // namespace
}  // namespace wicprof::analyzer
