#include "analyzer/communication/classify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "classified.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

struct Exchange {
  std::uint32_t forth = 0, back = 0;
};

TraceModel exchange_program(std::uint32_t iterations, const std::function<Exchange(std::uint32_t)>& exchange) {
  TraceModel model = empty_program();
  declare_site(model, 2, "answer", WordMemory::pinned_host);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const Exchange counts = exchange(i);
    add_exchange(model, i, TimeNs{i} * 10'000'000, 10'000'000, counts.forth, counts.back);
  }
  settle(model);
  return model;
}

std::string words(const Classification& c) {
  std::string all;
  for (const std::string& line : c.evidence) all += line + "\n";
  return all;
}

TEST(Classify, OneProducingSideIsUnidirectional) {
  for (const std::uint32_t count : {1u, 3u}) {
    const Classification c = classified(exchange_program(60, [&](std::uint32_t) { return Exchange{count, 0}; }));
    EXPECT_EQ(c.model, Model::unidirectional) << words(c);
    EXPECT_GT(c.model_confidence, 0.9);
  }
}

TEST(Classify, OneEachWayIsAlternating) {
  const Classification c = classified(exchange_program(60, [](std::uint32_t) { return Exchange{1, 1}; }));
  EXPECT_EQ(c.model, Model::alternating) << words(c);
  EXPECT_GT(c.model_confidence, 0.9);
}

// However clear they are: the next ones may be other.
TEST(Classify, FewIterationsAreNeverSure) {
  for (const std::uint32_t iterations : {10u, 20u}) {
    for (const Exchange counts : {Exchange{1, 1}, Exchange{3, 0}, Exchange{4, 2}}) {
      const Classification c = classified(exchange_program(iterations, [&](std::uint32_t) { return counts; }));
      EXPECT_NE(c.model, Model::unknown) << words(c);
      EXPECT_LE(c.model_confidence, 0.8) << words(c);
      EXPECT_LE(c.pattern_confidence, 0.8) << words(c);
    }
  }
}

TEST(Classify, ADirectionThatChangesEveryIterationIsAlternating) {
  const Classification c = classified(exchange_program(40, [](std::uint32_t i) {
    return i % 2 == 0 ? Exchange{1, 0} : Exchange{0, 1};
  }));
  EXPECT_EQ(c.model, Model::alternating) << words(c);
}

TEST(Classify, EqualCountsEachIterationAreMultiple) {
  for (const Exchange counts : {Exchange{2, 2}, Exchange{6, 1}, Exchange{1, 4}}) {
    const Classification c = classified(exchange_program(60, [&](std::uint32_t) { return counts; }));
    EXPECT_EQ(c.model, Model::multiple) << words(c);
    EXPECT_GT(c.model_confidence, 0.9);
  }
}

TEST(Classify, VaryingCountsAreProbabilistic) {
  std::mt19937 random(21);
  const Classification c = classified(exchange_program(60, [&](std::uint32_t) {
    return Exchange{1 + unsigned(random() % 4), unsigned(random() % 3)};
  }));
  EXPECT_EQ(c.model, Model::probabilistic) << words(c);
  EXPECT_GT(c.model_confidence, 0.9);
}

TEST(Classify, AVaryingDirectionIsProbabilistic) {
  std::mt19937 random(22);
  const Classification c = classified(exchange_program(60, [&](std::uint32_t) {
    return random() % 2 == 0 ? Exchange{1, 0} : Exchange{0, 1};
  }));
  EXPECT_EQ(c.model, Model::probabilistic) << words(c);
}

TEST(Classify, ManyWaitersOnOneSignalAreOneTransfer) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 500, .iterations = 20});
  settle(model);
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::unidirectional);
  EXPECT_NE(words(c).find("20 iterations of 1 forth and 0 back"), std::string::npos) << words(c);
}

TEST(Classify, BlocksOfOneDeviceHaveRoles) {
  // Block 0 signals at site 1 and waits at site 2; blocks 10 to 13 the other way around.
  TraceModel model = empty_program();
  declare_site(model, 2, "answer", WordMemory::device);
  for (std::uint32_t i = 0; i < 30; ++i) {
    const TimeNs begin = TimeNs{i} * 1'000'000;
    store::SignalRow ask{};
    ask.site = 1;
    ask.iteration = i;
    ask.value = i + 1;
    ask.at = begin + 100'000;
    store::SignalRow answer = ask;
    answer.site = 2;
    answer.block = 10;
    answer.at = begin + 500'000;
    model.signals.push_back(ask);
    model.signals.push_back(answer);
    store::WaitRow wait{};
    wait.iteration = i;
    wait.value = i + 1;
    wait.site = 2;
    wait.arrived = begin + 110'000;
    wait.resumed = begin + 501'000;
    model.waits.push_back(wait);
    wait.site = 1;
    wait.block = 10;
    wait.arrived = begin;
    wait.resumed = begin + 101'000;
    model.waits.push_back(wait);
  }
  settle(model);
  const Classification c = classified(model);
  EXPECT_EQ(c.model, Model::alternating) << words(c);
}

TEST(Classify, AnUnknownPatternHasAReason) {
  const Classification c = classified(exchange_program(40, [](std::uint32_t) { return Exchange{1, 1}; }));
  EXPECT_EQ(c.pattern, Pattern::unknown);
  EXPECT_EQ(c.pattern_confidence, 0);
  EXPECT_NE(words(c).find("message records"), std::string::npos);
}

TEST(Classify, AnEmptyTraceIsUnknownWithAReason) {
  TraceModel model = empty_program();
  settle(model);
  const Classification nothing = classified(model);
  EXPECT_EQ(nothing.model, Model::unknown);
  EXPECT_EQ(nothing.model_confidence, 0);
  EXPECT_NE(words(nothing).find("no waits"), std::string::npos);

  add_handoff(model, {});
  model.signals.clear();
  settle(model);
  const Classification unsignalled = classified(model);
  EXPECT_EQ(unsignalled.model, Model::unknown);
  EXPECT_NE(words(unsignalled).find("no signals"), std::string::npos);
}

TEST(Classify, TooFewIterationsAreUnknown) {
  const Classification c = classified(exchange_program(2, [](std::uint32_t) { return Exchange{1, 1}; }));
  EXPECT_EQ(c.model, Model::unknown);
  EXPECT_NE(words(c).find("at least 3"), std::string::npos) << words(c);
}

TEST(Classify, MoreIterationsRaiseTheConfidence) {
  const auto confidence = [](std::uint32_t iterations) {
    return classified(exchange_program(iterations, [](std::uint32_t) { return Exchange{1, 1}; })).model_confidence;
  };
  EXPECT_LT(confidence(4), confidence(20));
  EXPECT_LT(confidence(20), confidence(200));
  EXPECT_LE(confidence(200), 1.0);
}

TEST(Classify, LossesLowerTheConfidence) {
  TraceModel model = exchange_program(40, [](std::uint32_t) { return Exchange{1, 1}; });
  const Classification whole = classified(model);
  model.stats.push_back(lost(160));  // as many as are left
  const Classification lossy = classified(model);
  EXPECT_EQ(lossy.model, whole.model);
  EXPECT_LT(lossy.model_confidence, 0.9 * whole.model_confidence);
  EXPECT_NE(words(lossy).find("lost"), std::string::npos);
}

TEST(Classify, IsInvariantToShiftsAndNames) {
  const TraceModel model = exchange_program(40, [](std::uint32_t) { return Exchange{2, 3}; });
  const TraceModel other = shifted(renamed_devices(model, [](DeviceId) { return 1003; }), 5'000'000'000);
  EXPECT_EQ(classified(model).model, classified(other).model);
  EXPECT_EQ(classified(model).model_confidence, classified(other).model_confidence);
}

}  // namespace
}  // namespace wicprof::analyzer
