// The made programs are what they claim to be, and the classification of those that serve to improve it keeps its word.
#include "tests/analyzer/made_programs/made_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzer/communication/classify.h"
#include "analyzer/waits/matching.h"
#include "tests/analyzer/made_programs/algorithms.h"

namespace wicprof::analyzer::made {
namespace {

TEST(MadePrograms, ASeedAlwaysGivesTheSameProgram) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const MadeProgram a = make_program(seed), b = make_program(seed);
    EXPECT_EQ(a.plan.kind.name(), b.plan.kind.name());
    ASSERT_EQ(a.trace.signals.size(), b.trace.signals.size());
    for (std::size_t i = 0; i < a.trace.signals.size(); ++i) {
      EXPECT_EQ(a.trace.signals[i].at, b.trace.signals[i].at);
      EXPECT_EQ(a.trace.signals[i].value, b.trace.signals[i].value);
    }
  }
}

TEST(MadePrograms, EveryClassAndBothHalvesOccur) {
  std::map<Half, std::set<Model>> models;
  std::map<Half, std::set<Pattern>> patterns;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const MadeProgram program = make_program(seed);
    models[half_of(program.plan.kind)].insert(program.plan.model);
    patterns[half_of(program.plan.kind)].insert(program.plan.pattern);
  }
  for (const Half half : {Half::improve, Half::judge}) {
    EXPECT_EQ(models[half].size(), 5u);
    EXPECT_EQ(patterns[half].size(), 4u);
  }
}

// The rule that divides the kinds may not change: whoever changes it judges the analyzer by what improved it.
TEST(MadePrograms, TheHalvesStay) {
  std::string halves;
  for (std::uint64_t seed = 1; seed <= 32; ++seed)
    halves += half_of(make_program(seed).plan.kind) == Half::judge ? 'j' : 'i';
  EXPECT_EQ(halves, "ijjiijiijjjijjjjjiijijjjjjijiiij");
}

// Whatever surrounds the iterations leaves the kind in its half.
TEST(MadePrograms, HabitsOccurAndLeaveTheHalves) {
  std::set<std::string> habits;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Kind kind = make_program(seed).plan.kind;
    if (kind.ends == Ends::greeting) habits.insert("greeting");
    if (kind.ends == Ends::result) habits.insert("result");
    if (kind.rounds > 1) habits.insert("rounds");
    if (kind.acknowledge_every > 1) habits.insert("acknowledged");
    const Half half = half_of(kind);
    kind.ends = Ends::none;
    kind.rounds = kind.acknowledge_every = 1;
    EXPECT_EQ(half_of(kind), half);
  }
  EXPECT_EQ(habits.size(), 4u);
}

// Only kinds that serve to improve: bench/classification_made judges the others.
TEST(MadePrograms, NoAnswerWithAHighConfidenceIsWrong) {
  std::size_t asked = 0, right = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const MadeProgram program = make_program(seed);
    const Plan& plan = program.plan;
    if (half_of(plan.kind) != Half::improve) continue;
    SCOPED_TRACE(std::to_string(seed) + ": " + plan.kind.name());
    const Classification c = classify(program.trace, match(program.trace));
    const bool model_right = c.model == plan.model, pattern_right = c.pattern == plan.pattern;
    EXPECT_TRUE(model_right || c.model_confidence <= 0.8)
        << model_name(c.model) << " instead of " << model_name(plan.model);
    EXPECT_TRUE(pattern_right || c.pattern_confidence <= 0.8)
        << pattern_name(c.pattern) << " instead of " << pattern_name(plan.pattern);
    asked += (plan.model != Model::unknown ? 1 : 0) + (plan.pattern_shown ? 1 : 0);
    right += (plan.model != Model::unknown && model_right ? 1 : 0) + (plan.pattern_shown && pattern_right ? 1 : 0);
  }
  EXPECT_GE(10 * right, 6 * asked) << right << " of " << asked;
}

TEST(KnownPrograms, EveryAlgorithmRunsInManyTechniques) {
  std::map<std::size_t, std::set<Words>> words;
  for (std::uint64_t seed = 0; seed < 30 * kAlgorithms.size(); ++seed) {
    const KnownProgram known = make_known_program(seed);
    ASSERT_FALSE(known.program.trace.signals.empty()) << kAlgorithms[known.algorithm];
    EXPECT_NE(known.program.plan.model, Model::unknown);
    words[known.algorithm].insert(known.program.plan.kind.words);
  }
  EXPECT_EQ(words.size(), kAlgorithms.size());
  for (const auto& [algorithm, its] : words) EXPECT_GE(its.size(), 2u) << kAlgorithms[algorithm];
}

// One signal for all receivers of a broadcast: every receiver waits for its word.
TEST(KnownPrograms, ABroadcastIsOneSignalForManyWaiters) {
  const auto broadcast = std::find(kAlgorithms.begin(), kAlgorithms.end(), "broadcast in chunks");
  auto seed = static_cast<std::uint64_t>(broadcast - kAlgorithms.begin());
  while (make_known_program(seed).program.plan.kind.losses != Losses::none) seed += kAlgorithms.size();
  const MadeProgram program = make_known_program(seed).program;
  std::set<DeviceId> receivers;
  for (const auto& wait : program.trace.waits) receivers.insert(wait.device);
  EXPECT_GE(program.trace.waits.size() + program.trace.host_waits.size(), 2 * program.trace.signals.size());
  EXPECT_EQ(program.trace.signals.size() * program.plan.edges.size(), program.plan.transfers.size());
}

// A rank of a ring sends what it has just received, while its neighbour may be a step ahead.
TEST(KnownPrograms, NoSureAnswerAboutAnAlgorithmThatServesToImproveIsWrong) {
  for (std::uint64_t seed = 0; seed < 60 * kAlgorithms.size(); ++seed) {
    const KnownProgram known = make_known_program(seed);
    if (known.half != Half::improve) continue;
    const Plan& plan = known.program.plan;
    const Classification c = classify(known.program.trace, match(known.program.trace));
    SCOPED_TRACE(std::to_string(seed) + ": " + std::string(kAlgorithms[known.algorithm]));
    EXPECT_TRUE(c.model == plan.model || c.model_confidence <= 0.8) << model_name(c.model);
    EXPECT_TRUE(c.pattern == plan.pattern || c.pattern_confidence <= 0.8) << pattern_name(c.pattern);
  }
}

}  // namespace
}  // namespace wicprof::analyzer::made
