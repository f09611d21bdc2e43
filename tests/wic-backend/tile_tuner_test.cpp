#include <gtest/gtest.h>

#include <fstream>

#include "wic/tile_tuner.h"

namespace wic {
namespace {

const std::vector<std::string> kPlans{"stream order", "dependent launch", "by row", "by tile"};

struct Machine {
  std::vector<double> ns;
  std::vector<int> runs = std::vector<int>(4);
  Result<double> operator()(std::size_t plan) {
    // The first run of each plan is cold; then they vary by 0.4 %.
    const int run = runs[plan]++;
    return ns[plan] * (run == 0 ? 9 : 1 + 0.002 * (run % 3));
  }
};

TEST(TileTuner, ChoosesTheFastestAndKeepsIt) {
  TileTuner tuner;
  Machine machine{{100, 99, 80, 120}};
  const auto measure = [&](std::size_t plan) { return machine(plan); };
  const auto choice = tuner.choose("batch 768", kPlans, measure);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->plan, "by row");
  EXPECT_NEAR(choice->gain(), 1.25, 0.01);
  EXPECT_LT(machine.runs[3], machine.runs[2]) << "the slower half is measured less often";
  const std::vector<int> before = machine.runs;
  EXPECT_EQ(tuner.choose("batch 768", kPlans, measure)->plan, "by row");
  EXPECT_EQ(machine.runs, before);
}

TEST(TileTuner, StaysInStreamOrderWithoutAClearGain) {
  TileTuner tuner;
  Machine machine{{100, 99.5, 99.4, 99.9}};
  const auto choice = tuner.choose("batch 2816", kPlans, [&](std::size_t plan) { return machine(plan); });
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->plan, "stream order");
  EXPECT_EQ(choice->gain(), 1);
}

TEST(TileTuner, MeasuresAgainWhereThePlanIsGone) {
  TileTuner tuner;
  Machine machine{{100, 99, 80, 120}};
  const auto measure = [&](std::size_t plan) { return machine(plan); };
  ASSERT_TRUE(tuner.choose("batch 768", kPlans, measure));
  EXPECT_EQ(tuner.choose("batch 768", {"stream order"}, measure)->plan, "stream order");
}

TEST(TileTuner, ReadsWhatItWrote) {
  const std::string path = testing::TempDir() + "tuner_choices.txt";
  TileTuner tuner;
  Machine machine{{100, 99, 80, 120}};
  ASSERT_TRUE(tuner.choose("H200, batch 768", kPlans, [&](std::size_t plan) { return machine(plan); }));
  ASSERT_TRUE(tuner.save(path));
  TileTuner other;
  ASSERT_TRUE(other.load(path));
  const auto never = [](std::size_t) -> Result<double> { return failed("measured again"); };
  EXPECT_EQ(other.choose("H200, batch 768", kPlans, never)->plan, "by row");
  std::ofstream(path, std::ios::app) << "rubbish\n";
  const auto refused = TileTuner().load(path);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("line 2"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(TileTuner().load(path + ".none"));
}

TEST(TileTuner, PassesOnErrors) {
  TileTuner tuner;
  EXPECT_FALSE(tuner.choose("nothing", {}, [](std::size_t) -> Result<double> { return 1.0; }));
  EXPECT_FALSE(tuner.choose("broken", kPlans, [](std::size_t) -> Result<double> { return failed("no"); }));
}

}  // namespace
}  // namespace wic
