// Which rank came late, why, and where in the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/ranks/digest.h"
#include "rank_job.h"

namespace wicprof::analyzer {
namespace {

TEST(LateRank, NamesTheRankAndWhatItCost) {
  Job job(4);
  for (TimeNs step = 0; step < 20; ++step) {
    const TimeNs at = step * 1000;
    job.collective(MpiOperation::allreduce, {at + 500, at + 501, at + 700, at + 502});
  }
  const std::vector<Finding> found = job.findings(20'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text, "rank 2 came late: the other 3 ranks waited 11.9 ms for it in all, 3.98 ms each");
  EXPECT_NE(found[0].evidence.find("MPI_Allreduce"), std::string::npos);
  EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(LateRank, IsFoundInEveryTenthStepAmongNoise) {
  std::mt19937 random(1);
  std::exponential_distribution<double> noise(1.0 / 20);
  Job job(4);
  for (TimeNs step = 0; step < 200; ++step) {
    std::vector<TimeNs> arrivals;
    for (int rank = 0; rank < 4; ++rank) {
      const bool late = rank == 3 && step % 10 == 0;
      arrivals.push_back(step * 1000 + 500 + static_cast<TimeNs>(noise(random)) + (late ? 400 : 0));
    }
    job.collective(MpiOperation::allreduce, arrivals);
  }
  const std::vector<Finding> found = job.findings(200'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.starts_with("rank 3 came late")) << found[0].text;
}

TEST(LateRank, RefusesWhereAllRanksLackCpusAlike) {
  const auto found = [](TimeNs of_late_rank, TimeNs of_others) {
    Job job(3);
    for (TimeNs step = 0; step < 20; ++step) {
      job.collective(MpiOperation::allreduce, {step * 1000 + 500, step * 1000 + 700, step * 1000 + 500});
    }
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      store::ThreadSampleRow sample{};
      sample.process = sample.thread = process(rank);
      sample.begin = 1;
      sample.end = 20'000 * kMicrosecond;
      sample.cpu = kMillisecond;
      sample.run_delay = (rank == 1 ? of_late_rank : of_others) * kMillisecond;
      job.model.thread_samples.push_back(sample);
    }
    return job.findings(20'000).size();
  };
  EXPECT_EQ(found(0, 0), 1u);
  EXPECT_EQ(found(4, 4), 0u);
  EXPECT_EQ(found(4, 0), 1u) << "it alone lacks a CPU";
  EXPECT_EQ(found(0, 4), 1u) << "it slept, and the others polled";
}

/// What a rank does between its calls, in ms: on a CPU, ready without one, asleep.
struct Gap {
  TimeNs cpu = 1, run_delay = 0, slept = 0;
};

/// Rank 1 of 4 comes 4 ms late: 0.2 ms in each of 20 steps. `change` adds to the trace.
class LateCause : public testing::Test {
 protected:
  LateCause() {
    for (TimeNs step = 0; step < 20; ++step)
      job.collective(MpiOperation::allreduce,
                     {step * 1000 + 500, step * 1000 + 700, step * 1000 + 500, step * 1000 + 500});
  }
  void gap(std::int32_t rank, const Gap& of) {
    store::MpiGapRow row;
    row.process = row.thread = process(rank);
    row.gaps = 21;
    row.end = 20'000 * kMicrosecond;
    row.cpu = of.cpu * kMillisecond;
    row.run_delay = of.run_delay * kMillisecond;
    row.outside = row.cpu + *row.run_delay + of.slept * kMillisecond;
    job.model.mpi_gaps.push_back(row);
  }
  void gaps(const Gap& late, const Gap& other = {}) {
    for (std::int32_t rank = 0; rank < 4; ++rank) gap(rank, rank == 1 ? late : other);
  }
  void samples_of(store::ProcessId process, std::uint32_t thread, TimeNs cpu_ms) {
    store::ThreadSampleRow sample{};
    sample.process = process;
    sample.thread = thread;
    sample.end = 20'000 * kMicrosecond;
    sample.cpu = cpu_ms * kMillisecond;
    sample.run_delay = 0;
    job.model.thread_samples.push_back(sample);
  }
  LateRankCause why() const { return job.waits().why; }

  Job job{4};
};

TEST_F(LateCause, IsUnknownWithoutGapsAndWhereTheyDoNotShowTheWaits) {
  EXPECT_EQ(why().cause, RankCause::unknown);
  gaps({1, 0, 1});
  EXPECT_EQ(why().cause, RankCause::unknown) << "1 ms longer does not make others wait for 4";
  job.model.mpi_gaps.back().run_delay.reset();
  EXPECT_EQ(why().cause, RankCause::unknown);
}

TEST_F(LateCause, IsWhatTheRankDidLonger) {
  gaps({1, 0, 4});
  EXPECT_EQ(why().cause, RankCause::slept);
  EXPECT_DOUBLE_EQ(why().confidence, 1);
  EXPECT_EQ(why().longer_ns, 4 * kMillisecond);
  job.model.mpi_gaps.clear();
  gaps({5, 0, 0});
  EXPECT_EQ(why().cause, RankCause::computed);
  job.model.mpi_gaps.clear();
  gaps({1, 4, 0});
  EXPECT_EQ(why().cause, RankCause::no_cpu);
  store::StatRow& stat = job.model.stats.emplace_back();
  stat.name = "throttled_ns";
  stat.value = 3 * kMillisecond;
  EXPECT_EQ(why().cause, RankCause::throttled);
  job.model.mpi_gaps.clear();
  gaps({3, 0, 3});
  EXPECT_LT(why().confidence, 0.7) << "two causes alike";
}

TEST_F(LateCause, WorkThatLacksACpuWithTheOthersIsWork) {
  gaps({5, 10, 0}, {1, 2, 0});
  EXPECT_EQ(why().cause, RankCause::computed);
  EXPECT_DOUBLE_EQ(why().confidence, 1);
}

TEST_F(LateCause, MoreDataIsMoreBytesInProportion) {
  gaps({5, 0, 0});
  for (store::MpiCallRow& call : job.model.mpi_calls) call.bytes = call.process == process(1) ? 5000 : 1000;
  EXPECT_EQ(why().cause, RankCause::more_data);
  for (store::MpiCallRow& call : job.model.mpi_calls) call.bytes = call.process == process(1) ? 1300 : 1000;
  EXPECT_EQ(why().cause, RankCause::computed) << "a third more bytes are not five times the work";
}

TEST_F(LateCause, OfASleeperIsWhoRanMeanwhile) {
  gaps({1, 0, 4});
  samples_of(process(1), process(1) + 50, 4);
  EXPECT_EQ(why().cause, RankCause::other_thread);
  job.model.thread_samples.clear();
  store::ProcessRow child;
  child.id = 900;
  child.parent = process(1);
  job.model.processes.push_back(child);
  child.parent = 900;
  child.id = 901;
  job.model.processes.push_back(child);
  samples_of(901, 901, 3);
  EXPECT_EQ(why().cause, RankCause::child_process);
  samples_of(process(0), process(0) + 50, 4);
  EXPECT_EQ(why().cause, RankCause::child_process) << "one of the others differs from their median";
}

TEST_F(LateCause, OfARankThatWaitsForItsDeviceIsTheDevicesWork) {
  gaps({1, 0, 4});
  store::KernelRow kernel{};
  kernel.process = process(1);
  kernel.end = 4 * kMillisecond;
  job.model.kernels.push_back(kernel);
  EXPECT_EQ(why().cause, RankCause::slept) << "it did not wait for the kernel";
  store::HostWaitRow wait{};
  wait.call = "cuStreamSynchronize";
  wait.process = process(1);
  wait.end = 4 * kMillisecond;
  job.model.host_waits.push_back(wait);
  EXPECT_EQ(why().cause, RankCause::kernels);
  store::CopyRow copy{};
  copy.process = process(1);
  copy.end = 5 * kMillisecond;
  job.model.copies.push_back(copy);
  EXPECT_EQ(why().cause, RankCause::copies);
}

TEST_F(LateCause, IsInTheFindingAndInADigest) {
  gaps({1, 0, 4});
  gap(1, {0, 0, 2});
  const std::vector<Finding> found = job.findings(20'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.ends_with("; it slept longer between calls of MPI (confidence 1.00)")) << found[0].text;
  const TraceModel of = digest(job.model, 1000);
  EXPECT_EQ(of.mpi_gaps.size(), 4u);
  EXPECT_EQ(mpi_waits(of).why.cause, RankCause::slept);
  EXPECT_EQ(mpi_waits(of).why.longer_ns, 6 * kMillisecond);
}

/// The same, with ranges of the threads that call MPI.
class LatePlace : public LateCause {
 protected:
  LatePlace() { gaps({1, 0, 4}); }
  /// In each step, of rank 1 and of the others; us from the step's begin.
  void range(std::string_view name, TimeNs begin, TimeNs late_end, TimeNs others_end, std::string_view domain = "") {
    for (TimeNs step = 0; step < 20; ++step) {
      for (std::int32_t rank = 0; rank < 4; ++rank) {
        store::NvtxRow& row = job.model.nvtx.emplace_back();
        row.kind = NvtxKind::range;
        row.name = fmt::format(fmt::runtime(name), step);
        row.domain = domain;
        row.process = row.thread = process(rank);
        row.start = (step * 1000 + begin) * kMicrosecond;
        row.end = (step * 1000 + (rank == 1 ? late_end : others_end)) * kMicrosecond;
      }
    }
  }
  std::optional<LateRankPlace> place() {
    settle(job.model);
    return why().place;
  }
};

TEST_F(LatePlace, IsTheRangeWithMostOfTheFurtherTime) {
  EXPECT_FALSE(place());
  range("compute", 300, 400, 400);
  range("load", 400, 690, 490);
  const std::optional<LateRankPlace> found = place();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, (RankPlace{PlaceKind::range, "load"}));
  // The first call begins in the first step's range: 19 steps count.
  EXPECT_EQ(found->longer_ns, 19 * 200 * kMicrosecond);
  EXPECT_NEAR(found->confidence, 0.95, 1e-6);
}

TEST_F(LatePlace, IsTheInnermostOfThoseThatExplainAlike) {
  range("step {}", 10, 699, 499);
  range("load {}", 300, 690, 495);
  range("read", 400, 590, 490);  // half of it
  EXPECT_EQ(place().value().place.name, "load #");
}

TEST_F(LatePlace, IsNoneWhereNoRangeHasHalfOfIt) {
  range("a", 400, 580, 490);
  range("b", 600, 690, 600);
  EXPECT_FALSE(place());
}

TEST_F(LatePlace, IsNotInACallOrInALibraryOrAllOfIt) {
  range("whole", 400, 690, 490, "NCCL");
  range("operator", 400, 690, 490, "torch operators");
  range("torch/nn/module.py(10): forward", 400, 690, 490, "Python");
  range("in the call", 500, 703, 703);  // the others wait in it
  range("nccl:all_reduce", 400, 690, 490);
  store::NvtxRow& all = job.model.nvtx.emplace_back();
  all.kind = NvtxKind::range;
  all.name = "never closed";
  all.process = all.thread = process(1);
  all.start = 9'000 * kMicrosecond;
  all.end = 30'000 * kMicrosecond;
  EXPECT_EQ(place().value().place.name, "in the call") << "the others have 3 us in MPI, the late rank 200 before it";
  std::erase_if(job.model.nvtx, [](const store::NvtxRow& row) { return row.name == "in the call"; });
  EXPECT_FALSE(place());
}

TEST_F(LatePlace, IsAPythonFunctionOfTheProgram) {
  range("/home/me/train.py(12): load", 400, 690, 490, "Python");
  EXPECT_EQ(place().value().place, (RankPlace{PlaceKind::function, "load (/home/me/train.py:12)"}));
  const std::vector<Finding> found = job.findings(20'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.ends_with("most of that in the function load (/home/me/train.py:12) (confidence 0.95)"))
      << found[0].text;
}

TEST_F(LatePlace, IsTheSameFromADigest) {
  range("step {}", 10, 699, 499);
  range("load", 400, 690, 490);
  store::HostWaitRow wait{};
  wait.call = "cuStreamSynchronize";
  wait.process = process(1);
  wait.end = 4 * kMillisecond;
  job.model.host_waits.push_back(wait);
  const auto same = [&] {
    settle(job.model);
    const LateRankCause whole = why(), part = mpi_waits(digest(job.model, 1000)).why;
    EXPECT_EQ(part.cause, whole.cause);
    EXPECT_EQ(part.confidence, whole.confidence);
    EXPECT_EQ(part.longer_ns, whole.longer_ns);
    EXPECT_EQ(part.of_cause_ns, whole.of_cause_ns);
    EXPECT_EQ(part.place ? part.place->place : RankPlace(), whole.place ? whole.place->place : RankPlace());
    return whole;
  };
  EXPECT_EQ(same().place.value().place.name, "load");
  store::KernelRow kernel{};
  kernel.name = "work";
  kernel.process = process(1);
  kernel.end = 4 * kMillisecond;
  job.model.kernels.push_back(kernel);
  const LateRankCause of_kernels = same();
  EXPECT_EQ(of_kernels.cause, RankCause::kernels);
  EXPECT_EQ(of_kernels.place.value().place, (RankPlace{PlaceKind::kernel, "work"}));
}

TEST(LateRank, EqualRanksAreNotNamed) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    // As a crowded machine makes them: mostly in time, at times late by much.
    std::lognormal_distribution<double> noise(2, 2);
    const std::int32_t ranks = 2 + static_cast<std::int32_t>(seed % 7);
    Job job(ranks);
    for (TimeNs step = 0; step < 50; ++step) {
      std::vector<TimeNs> arrivals;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        arrivals.push_back(step * 1000 + 500 + static_cast<TimeNs>(std::min(noise(random), 400.0)));
      }
      job.collective(MpiOperation::allreduce, arrivals);
    }
    EXPECT_TRUE(job.findings(50'000).empty()) << seed;
  }
}

TEST(LateRank, RefusesATraceOfOneRank) {
  Job job(1);
  job.collective(MpiOperation::barrier, {10});
  job.findings(1000);
  const Analysis analysis = analyze(job.model);
  const auto refused = std::find_if(analysis.refusals.begin(), analysis.refusals.end(),
                                    [](const Refusal& refusal) { return refusal.rule == "late_rank"; });
  ASSERT_NE(refused, analysis.refusals.end());
  EXPECT_NE(refused->reason.find("one rank"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::analyzer
