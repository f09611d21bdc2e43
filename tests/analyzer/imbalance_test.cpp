// Ranks that come late in turn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/ranks/digest.h"
#include "rank_job.h"

namespace wicprof::analyzer {
namespace {

/// Steps of 1 ms in which each rank works about as long, and in every `every`-th one of them, in turn, `later` us more.
class Turns : public testing::Test {
 protected:
  std::vector<Finding> imbalance(std::int32_t ranks, double noise, TimeNs later, TimeNs every, TimeNs run_delay_us = 0,
                                 unsigned seed = 1, bool known = true) {
    Job job(ranks);
    std::mt19937 random(seed);
    std::normal_distribution<double> deviation(0, noise);
    TimeNs now = 1000;
    std::vector<TimeNs> work(static_cast<std::size_t>(ranks));
    for (TimeNs step = 0; step < 60; ++step) {
      std::vector<TimeNs> arrivals;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const bool late = step % every == 0 && step / every % ranks == rank;
        const TimeNs length = 1000 + (late ? later : 0) + static_cast<TimeNs>(deviation(random));
        work[static_cast<std::size_t>(rank)] += length;
        arrivals.push_back(now + length);
      }
      job.collective(MpiOperation::allreduce, arrivals);
      now = *std::max_element(arrivals.begin(), arrivals.end()) + 2;
    }
    for (std::int32_t rank = 0; known && rank < ranks; ++rank) {
      store::MpiGapRow& row = job.model.mpi_gaps.emplace_back();
      row.process = row.thread = process(rank);
      row.gaps = 60;
      row.begin = 1000 * kMicrosecond;
      row.end = now * kMicrosecond;
      row.run_delay = run_delay_us * kMicrosecond;
      row.outside = work[static_cast<std::size_t>(rank)] * kMicrosecond;
      row.cpu = row.outside - *row.run_delay;
    }
    job.model.meta = {{"state", "complete"}, {"started_ns", "1"}, {"ended_ns", std::to_string(now * kMicrosecond)}};
    settle(job.model);
    analysis = analyze(job.model);
    const MpiWaits of_digest = mpi_waits(digest(job.model, 100'000));
    EXPECT_EQ(of_digest.efficiency.has_value(), analysis.mpi.efficiency.has_value());
    EXPECT_EQ(of_digest.efficiency.value_or(RankEfficiency()).parallel,
              analysis.mpi.efficiency.value_or(RankEfficiency()).parallel);
    std::vector<Finding> found;
    for (const Finding& finding : analysis.findings) {
      if (finding.rule == "imbalance" || finding.rule == "late_rank") found.push_back(finding);
    }
    return found;
  }
  Analysis analysis;
};

TEST_F(Turns, AreAFindingWithWhatBalanceWouldGain) {
  for (const std::int32_t ranks : {2, 4, 8}) {
    const std::vector<Finding> found = imbalance(ranks, 10, 1500, 2);
    ASSERT_EQ(found.size(), 1u) << ranks;
    EXPECT_EQ(found[0].rule, "imbalance");
    // Of two ranks, the first late one is not late by half of the time since the recording began.
    const std::string times = fmt::format("in {} of 60 collectives, one of {} ranks", ranks == 2 ? 29 : 30, ranks);
    EXPECT_NE(found[0].text.find(times), std::string::npos) << found[0].text;
    // Of 3.5 ms of two steps, each rank would save what it waits for the late one, 1.5 ms, in all but its own turn.
    EXPECT_NEAR(found[0].cost->amount, 1.5 * (ranks - 1) / ranks / 3.5, 0.02);
    const RankEfficiency& of = analysis.mpi.efficiency.value();
    EXPECT_GT(of.load_balance, 0.97) << "each has as many turns";
    EXPECT_NEAR(of.serialisation, (2 + 1.5 / ranks) / 3.5, 0.02);
    EXPECT_GT(of.transfer, 0.99);
    EXPECT_NEAR(of.parallel, of.load_balance * of.serialisation * of.transfer, 1e-9);
  }
}

TEST_F(Turns, OfEveryStepOfTwoRanks) {
  const std::vector<Finding> found = imbalance(2, 10, 1500, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].text.find("in 59 of 60 collectives"), std::string::npos) << found[0].text;
}

TEST_F(Turns, EqualRanksHaveNone) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const double noise = 5 + static_cast<double>(seed);  // up to a tenth of the work
    EXPECT_TRUE(imbalance(2 + static_cast<std::int32_t>(seed % 7), noise, 0, 2, 0, seed).empty()) << seed;
  }
}

TEST_F(Turns, AreNotTheWorksWhereRanksLackCpusOrNothingIsKnown) {
  const auto refused = [&] {
    return std::any_of(analysis.refusals.begin(), analysis.refusals.end(),
                       [](const Refusal& refusal) { return refusal.rule == "imbalance"; });
  };
  EXPECT_TRUE(imbalance(4, 10, 1000, 2, 20'000).empty());
  EXPECT_TRUE(refused());
  EXPECT_TRUE(imbalance(4, 10, 1000, 2, 0, 1, false).empty());
  EXPECT_TRUE(refused());
  EXPECT_FALSE(analysis.mpi.efficiency);
}

}  // namespace
}  // namespace wicprof::analyzer
