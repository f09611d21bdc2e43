// The autopilot's rule over measurements that are passed in. How often it is right is judged by bench_autopilot.
#include "cli/record/auto_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace wicprof::cli {
namespace {

using Time = std::function<double(Mode mode, TimeNs at)>;

/// Drives the rule with a program whose unit takes `time` in ns, times a noise of 3 %.
class Driven {
 public:
  explicit Driven(Time time, std::uint64_t seed = 1) : time_(std::move(time)), rule_({seed, 0}), random_(seed) {}

  void until(TimeNs end) {
    while (now_ < end) {
      std::normal_distribution<double> noise(0, 0.03);
      const auto unit = static_cast<TimeNs>(time_(mode_, now_) * std::exp(noise(random_)));
      now_ += unit;
      (mode_ == Mode::poll ? polled_ : parked_) += unit;
      units_.push_back(unit);
      if (const std::optional<Mode> next = rule_.look(now_, units_)) {
        mode_ = *next;
        rule_.switched(now_);
        units_.clear();
      }
      for (const AutoDecision& each : rule_.take_decisions()) decisions_.push_back(each);
    }
  }
  /// Nothing happens in the program.
  void idle(TimeNs length) {
    for (const TimeNs end = now_ + length; now_ < end; now_ += 50 * kMillisecond) {
      if (const std::optional<Mode> next = rule_.look(now_, units_)) {
        mode_ = *next;
        rule_.switched(now_);
        units_.clear();
      }
      for (const AutoDecision& each : rule_.take_decisions()) decisions_.push_back(each);
    }
  }
  std::vector<DecisionKind> kinds() const {
    std::vector<DecisionKind> kinds;
    for (const AutoDecision& each : decisions_) kinds.push_back(each.kind);
    return kinds;
  }

  Time time_;
  AutoRule rule_;
  Mode mode_ = Mode::poll;
  TimeNs now_ = kSecond, polled_ = 0, parked_ = 0;
  std::vector<TimeNs> units_;
  std::vector<AutoDecision> decisions_;
  std::mt19937_64 random_;
};

double gain(Mode mode, TimeNs) { return mode == Mode::poll ? 2e6 : 1e6; }
double loss(Mode mode, TimeNs) { return mode == Mode::poll ? 1e6 : 3e6; }
using Kinds = std::vector<DecisionKind>;

TEST(AutoRule, KeepsAGainAndStaysWithIt) {
  Driven run(gain);
  run.until(600 * kSecond);
  ASSERT_EQ(run.kinds(), (Kinds{DecisionKind::trial, DecisionKind::keep}));
  const AutoDecision& keep = run.decisions_[1];
  ASSERT_TRUE(keep.ratio);
  EXPECT_GT(keep.ratio->low, 1);
  EXPECT_NEAR(keep.ratio->value, 2, 0.1);
  EXPECT_LT(keep.at, 10 * kSecond);
  EXPECT_TRUE(run.rule_.keeps());
  // Polled for the observation, half of the trial, and control blocks.
  EXPECT_LT(static_cast<double>(run.polled_), 0.02 * 600e9);
}

TEST(AutoRule, TriesALossBrieflyAndRarely) {
  Driven run(loss);
  run.until(600 * kSecond);
  std::vector<TimeNs> trials;
  for (const AutoDecision& each : run.decisions_) {
    ASSERT_TRUE(each.kind == DecisionKind::trial || each.kind == DecisionKind::refuse);
    if (each.kind == DecisionKind::trial) trials.push_back(each.at);
  }
  ASSERT_GE(trials.size(), 2u);
  for (std::size_t i = 1; i < trials.size(); ++i) EXPECT_GE(trials[i] - trials[i - 1], AutoRule::kPause);
  EXPECT_GE(trials[2] - trials[1], 2 * AutoRule::kPause - kSecond) << "the pause doubles";
  EXPECT_LT(static_cast<double>(run.parked_), 0.01 * 600e9);
}

TEST(AutoRule, LeavesEqualModesAlone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Driven run([](Mode, TimeNs) { return 1e6; }, seed);
    run.until(300 * kSecond);
    for (const DecisionKind kind : run.kinds()) EXPECT_NE(kind, DecisionKind::keep) << "seed " << seed;
  }
}

TEST(AutoRule, GoesBackWithinTenSecondsWhenParkedWaitsGetSlower) {
  Driven run([](Mode mode, TimeNs at) { return mode == Mode::park && at > 100 * kSecond ? 5e6 : gain(mode, at); });
  run.until(130 * kSecond);
  ASSERT_EQ(run.kinds(), (Kinds{DecisionKind::trial, DecisionKind::keep, DecisionKind::go_back}));
  EXPECT_LT(run.decisions_[2].at, 110 * kSecond);
  EXPECT_EQ(run.mode_, Mode::poll);
}

TEST(AutoRule, GoesBackWhenPollingGetsFaster) {
  Driven run([](Mode mode, TimeNs at) { return mode == Mode::poll && at > 100 * kSecond ? 0.7e6 : gain(mode, at); });
  run.until(130 * kSecond);
  ASSERT_EQ(run.kinds().size(), 3u);
  EXPECT_EQ(run.kinds()[2], DecisionKind::go_back);
  EXPECT_LT(run.decisions_[2].at, 110 * kSecond);
}

TEST(AutoRule, DoesNotKeepAGainWithALongerTail) {
  std::mt19937_64 random(7);
  const auto time = [&](Mode mode, TimeNs at) {
    return gain(mode, at) * (mode == Mode::park && random() % 50 == 0 ? 8 : 1);
  };
  Driven run(time);
  run.until(40 * kSecond);
  ASSERT_EQ(run.kinds(), (Kinds{DecisionKind::trial, DecisionKind::refuse}));
  EXPECT_NE(run.decisions_[1].reason.find("p99"), std::string::npos) << run.decisions_[1].reason;
  EXPECT_GT(run.decisions_[1].park_p99, run.decisions_[1].poll_p99);
}

TEST(AutoRule, ALongSilenceEndsWhatIsKept) {
  Driven run(gain);
  run.until(20 * kSecond);
  ASSERT_TRUE(run.rule_.keeps());
  run.idle(30 * kSecond);
  EXPECT_TRUE(run.rule_.keeps()) << "an idle server is not harmed";
  run.idle(40 * kSecond);
  EXPECT_FALSE(run.rule_.keeps());
  EXPECT_EQ(run.decisions_.back().kind, DecisionKind::go_back);
  EXPECT_FALSE(run.decisions_.back().ratio);
}

TEST(AutoRule, TriesAgainAfterAMinuteWhenTheProgramChanges) {
  const auto time = [](Mode mode, TimeNs at) {
    return at < 200 * kSecond ? loss(mode, at) : mode == Mode::poll ? 4e6 : 2e6;
  };
  Driven run(time);
  run.until(300 * kSecond);
  EXPECT_TRUE(run.rule_.keeps());
}

TEST(AutoRule, AProgramWithoutUnitsIsNotTouched) {
  Driven run(gain);
  run.idle(600 * kSecond);
  EXPECT_TRUE(run.decisions_.empty());
}

TEST(TailChance, EqualTailsAreLikelyAndLongerOnesAreNot) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> length(1e-6);
  std::vector<TimeNs> polled, parked, longer;
  for (int i = 0; i < 4000; ++i) {
    polled.push_back(1000 + static_cast<TimeNs>(length(random)));
    parked.push_back(1000 + static_cast<TimeNs>(length(random)));
    longer.push_back(1000 + static_cast<TimeNs>(2 * length(random)));
  }
  EXPECT_GT(tail_chance(polled, parked), 0.01);
  EXPECT_LT(tail_chance(polled, longer), 1e-6);
  EXPECT_EQ(tail_chance(polled, {}), 1);
}

}  // namespace
}  // namespace wicprof::cli
