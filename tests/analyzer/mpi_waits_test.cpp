// Who waits for whom among the ranks of an MPI program.
#include "analyzer/ranks/mpi_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/analysis.h"
#include "analyzer/ranks/digest.h"
#include "analyzer/ranks/rank_times.h"

namespace wicprof::analyzer {
namespace {

constexpr CommunicatorId kWorld = 77;
constexpr std::int32_t kTag = 5;

/// The process of a rank.
store::ProcessId process(std::int32_t rank) { return 100 + static_cast<store::ProcessId>(rank); }

/// A job of ranks that all begin at 0. Times in us.
class Job {
 public:
  explicit Job(std::int32_t ranks) : ranks_(ranks) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      store::MpiCommunicatorRow row;
      row.communicator = kWorld;
      row.rank = row.world_rank = rank;
      row.size = ranks;
      row.process = process(rank);
      model.mpi_communicators.push_back(row);
    }
  }

  store::MpiCallRow& call(MpiOperation operation, std::int32_t rank, TimeNs begin, TimeNs end) {
    store::MpiCallRow row;
    row.operation = operation;
    row.communicator = kWorld;
    row.process = process(rank);
    row.thread = process(rank);
    row.begin = begin * kMicrosecond;
    row.end = end * kMicrosecond;
    return model.mpi_calls.emplace_back(row);
  }
  /// Each rank arrives at its time; all leave 2 us after the last one, or after `end`.
  void collective(MpiOperation operation, const std::vector<TimeNs>& arrivals, std::optional<std::int32_t> root = {},
                  std::optional<TimeNs> end = {}) {
    ++sequence_;
    const TimeNs last = *std::max_element(arrivals.begin(), arrivals.end());
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      const TimeNs begin = arrivals[static_cast<std::size_t>(rank)];
      store::MpiCallRow& row = call(operation, rank, begin, std::max(end.value_or(last + 2), begin + 1));
      row.sequence = sequence_;
      row.peer = root;
    }
  }
  void message(MpiOperation operation, std::int32_t rank, std::int32_t peer, TimeNs begin, TimeNs end,
               std::uint32_t number = 1) {
    store::MpiCallRow& row = call(operation, rank, begin, end);
    row.peer = peer;
    row.tag = kTag;
    row.sequence = number;
  }
  /// The completion of a receive or of a send.
  void completed(MpiOperation operation, std::int32_t rank, std::int32_t peer, TimeNs posted, TimeNs begin,
                 TimeNs end) {
    call(MpiOperation::waitall, rank, begin, end).communicator.reset();
    store::MpiRequestRow row;
    row.operation = operation;
    row.completed_by = MpiOperation::waitall;
    row.communicator = kWorld;
    row.sequence = 1;
    row.peer = peer;
    row.tag = kTag;
    row.process = row.thread = process(rank);
    row.posted = posted * kMicrosecond;
    row.begin = begin * kMicrosecond;
    row.end = end * kMicrosecond;
    model.mpi_requests.push_back(row);
  }
  MpiWaits waits() const { return mpi_waits(model); }
  /// How long others waited for a rank, in us.
  TimeNs cost(std::int32_t rank) const {
    for (const RankCost& each : waits().ranks) {
      if (each.rank == rank) return each.cost_ns / kMicrosecond;
    }
    return -1;
  }
  std::vector<Finding> findings(TimeNs length) {
    model.meta = {{"state", "complete"}, {"started_ns", "1"}, {"ended_ns", std::to_string(length * kMicrosecond)}};
    settle(model);
    std::vector<Finding> found;
    for (const Finding& finding : analyze(model).findings) {
      if (finding.rule == "late_rank") found.push_back(finding);
    }
    return found;
  }

  TraceModel model;

 private:
  std::int32_t ranks_;
  std::uint32_t sequence_ = 0;
};

TEST(MpiWaits, AllWaitForTheLastInAnAllreduce) {
  Job job(4);
  job.collective(MpiOperation::allreduce, {10, 110, 20, 30});
  const MpiWaits waits = job.waits();
  ASSERT_EQ(waits.collectives.size(), 1u);
  EXPECT_EQ(waits.collectives[0].last, process(1));
  EXPECT_EQ(waits.collectives[0].late_ns, 80 * kMicrosecond);
  EXPECT_EQ(waits.collectives[0].waited_ns, (100 + 90 + 80) * kMicrosecond);
  EXPECT_EQ(waits.ranks[0].rank, 1);
  EXPECT_EQ(waits.ranks[0].times, 3u);
  EXPECT_EQ(waits.ranks[0].largest_ns, 100 * kMicrosecond);
  EXPECT_EQ(job.cost(1), 270);
  EXPECT_EQ(job.cost(0), 0);
  ASSERT_EQ(waits.operations.size(), 1u);
  EXPECT_EQ(waits.operations[0].waited_ns, 270 * kMicrosecond);
}

TEST(MpiWaits, ABroadcastWaitsForItsRootAlone) {
  Job leaf(3);
  leaf.collective(MpiOperation::bcast, {10, 12, 500}, 0, 20);
  EXPECT_TRUE(leaf.waits().waits.empty());
  Job root(3);
  root.collective(MpiOperation::bcast, {100, 12, 10}, 0);
  EXPECT_EQ(root.cost(0), 88 + 90);
}

TEST(MpiWaits, TheRootOfAReduceWaitsForTheLast) {
  Job job(3);
  job.collective(MpiOperation::reduce, {10, 100, 20}, 0);
  EXPECT_EQ(job.cost(1), 90);
  EXPECT_EQ(job.waits().waits.size(), 1u);
}

TEST(MpiWaits, AScanWaitsForLowerRanks) {
  Job job(3);
  job.collective(MpiOperation::scan, {10, 100, 20});
  EXPECT_EQ(job.cost(1), 80);
  EXPECT_EQ(job.waits().waits.size(), 1u);
}

TEST(MpiWaits, ACollectiveThatLacksARankIsNotJudged) {
  Job job(3);
  job.collective(MpiOperation::barrier, {10, 100, 20});
  job.model.mpi_calls.pop_back();
  EXPECT_EQ(job.waits().incomplete, 1u);
  EXPECT_TRUE(job.waits().waits.empty());
}

TEST(MpiWaits, ALateSenderKeepsItsReceiver) {
  Job job(2);
  job.message(MpiOperation::send, 0, 1, 60, 61);
  job.message(MpiOperation::recv, 1, 0, 10, 63);
  const MpiWaits waits = job.waits();
  ASSERT_EQ(waits.waits.size(), 1u);
  EXPECT_EQ(waits.waits[0].kind, MpiWaitKind::late_sender);
  EXPECT_EQ(waits.messages, 1u);
  EXPECT_EQ(job.cost(0), 50);
}

TEST(MpiWaits, ALateReceiverKeepsASenderThatBlocksForIt) {
  Job blocked(2);
  blocked.message(MpiOperation::ssend, 0, 1, 10, 72);
  blocked.message(MpiOperation::recv, 1, 0, 70, 73);
  ASSERT_EQ(blocked.waits().waits.size(), 1u);
  EXPECT_EQ(blocked.waits().waits[0].kind, MpiWaitKind::late_receiver);
  EXPECT_EQ(blocked.cost(1), 60);
  Job eager(2);
  eager.message(MpiOperation::send, 0, 1, 10, 11);
  eager.message(MpiOperation::recv, 1, 0, 70, 73);
  EXPECT_TRUE(eager.waits().waits.empty()) << "the send had returned";
}

TEST(MpiWaits, ANonBlockingReceiveWaitsWhereItIsCompleted) {
  Job job(2);
  job.message(MpiOperation::isend, 0, 1, 100, 101);
  job.completed(MpiOperation::isend, 0, 1, 100, 102, 103);
  job.message(MpiOperation::irecv, 1, 0, 10, 11);
  job.completed(MpiOperation::irecv, 1, 0, 10, 80, 105);
  ASSERT_EQ(job.waits().waits.size(), 1u);
  EXPECT_EQ(job.cost(0), 20) << "from the begin of MPI_Waitall to that of the send";
  EXPECT_EQ(job.waits().waits[0].operation, MpiOperation::waitall);
}

TEST(MpiWaits, WhoWaitsItselfPassesItOn) {
  Job job(3);
  job.message(MpiOperation::send, 1, 2, 100, 101);
  job.message(MpiOperation::recv, 2, 1, 10, 103);
  job.collective(MpiOperation::barrier, {10, 105, 110});
  // Rank 0 waited for rank 2 from 10 to 110, of which rank 2 waited for rank 1 from 10 to 100.
  EXPECT_EQ(job.cost(1), 90 + 90);
  EXPECT_EQ(job.cost(2), 10 + 5);
}

TEST(RankTimes, HaveEachWaitInTheColumnsThatItCovers) {
  Job job(3);
  job.collective(MpiOperation::barrier, {0, 0, 25}, {}, 100);
  job.collective(MpiOperation::barrier, {970, 900, 900}, {}, 1000);
  const RankTimes times = rank_times(job.model, job.waits());
  EXPECT_EQ(times.begin, 0);
  EXPECT_EQ(times.column, 10 * kMicrosecond);
  ASSERT_EQ(times.ranks.size(), 3u);
  std::vector<std::vector<TimeNs>> waited(3, std::vector<TimeNs>(100)), waited_for = waited;
  const auto fill = [](std::vector<TimeNs>& row, std::size_t from, std::size_t upto, TimeNs us) {
    for (std::size_t i = from; i < upto; ++i) row[i] = us * kMicrosecond;
  };
  fill(waited[0], 0, 2, 10);
  fill(waited[0], 2, 3, 5);
  waited[1] = waited[0];
  fill(waited_for[2], 0, 2, 20);
  fill(waited_for[2], 2, 3, 10);
  fill(waited[1], 90, 97, 10);
  fill(waited[2], 90, 97, 10);
  fill(waited_for[0], 90, 97, 20);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(times.ranks[rank].rank, static_cast<std::int32_t>(rank));
    EXPECT_EQ(times.ranks[rank].waited, waited[rank]) << rank;
    EXPECT_EQ(times.ranks[rank].waited_for, waited_for[rank]) << rank;
  }
}

TEST(RankTimes, AreEmptyWithoutCalls) {
  const RankTimes times = rank_times(TraceModel{}, MpiWaits{});
  EXPECT_EQ(times.column, 0);
  EXPECT_TRUE(times.ranks.empty());
}

TEST(MpiWaits, TwoJobsWithOneRankTwiceAreNotMixed) {
  Job job(2);
  job.collective(MpiOperation::barrier, {10, 100});
  store::MpiCommunicatorRow twice = job.model.mpi_communicators.back();
  twice.process = 999;
  job.model.mpi_communicators.push_back(twice);
  EXPECT_TRUE(job.waits().waits.empty());
}

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

/// An all-reduce of NCCL, in which the kernels of the ranks begin and end then. Times in us.
void all_reduce(Job& job, std::uint32_t sequence, const std::vector<TimeNs>& begins, TimeNs end) {
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(begins.size()); ++rank) {
    store::MpiCallRow& call = job.call(MpiOperation::nccl_all_reduce, rank, 0, 1);
    call.sequence = sequence;
    store::MpiRequestRow row;
    row.operation = row.completed_by = call.operation;
    row.communicator = kWorld;
    row.sequence = sequence;
    row.process = row.thread = process(rank);
    row.posted = call.begin;
    row.begin = begins[static_cast<std::size_t>(rank)] * kMicrosecond;
    row.end = end * kMicrosecond;
    job.model.mpi_requests.push_back(row);
  }
}

void device_kernel(Job& job, std::int32_t rank, TimeNs begin, TimeNs end, const char* name = "work") {
  store::KernelRow kernel{};
  kernel.name = name;
  kernel.start = begin * kMicrosecond;
  kernel.end = end * kMicrosecond;
  kernel.process = process(rank);
  job.model.kernels.push_back(kernel);
}

TEST(NcclWaits, BeginWhereTheRankHasNothingElseToDo) {
  Job job(2);
  all_reduce(job, 1, {1000, 5000}, 5100);
  device_kernel(job, 0, 500, 3000);  // beside the kernel that waits
  device_kernel(job, 0, 1000, 5100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  device_kernel(job, 1, 500, 4900);
  const MpiWaits found = mpi_waits(job.model);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].begin, 3000 * kMicrosecond);
  EXPECT_EQ(found.waits[0].end, 5000 * kMicrosecond);
  EXPECT_EQ(found.ranks[0].rank, 1);
  EXPECT_EQ(found.ranks[0].cost_ns, 2000 * kMicrosecond);
  EXPECT_EQ(found.collectives[0].waited_ns, 2000 * kMicrosecond);
  EXPECT_EQ(found.operations[0].total_ns, 4200 * kMicrosecond);  // of the kernels
}

TEST(NcclWaits, CostWhatTheyHoldUpAndSlow) {
  Job job(2);
  for (const TimeNs begin : {0, 1500, 3000}) device_kernel(job, 0, begin, begin + 1000);
  all_reduce(job, 1, {5100, 8000}, 8300);
  device_kernel(job, 0, 5150, 6350);       // 200 us longer than usual
  all_reduce(job, 2, {8310, 8310}, 8700);  // would have run beside it, as the rest of the first one
  all_reduce(job, 3, {8710, 8710}, 9000);  // may be the last kernel's own
  device_kernel(job, 0, 9100, 9200, "update");
  all_reduce(job, 4, {9300, 9300}, 9400);
  const MpiWaits found = mpi_waits(job.model);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].length(), 1700 * kMicrosecond);
  EXPECT_EQ(found.waits[0].beside_ns, 1200 * kMicrosecond);
  EXPECT_EQ(found.ranks[0].rank, 1);
  EXPECT_EQ(found.ranks[0].beyond_waits_ns, (300 + 390 + 200) * kMicrosecond);
  EXPECT_EQ(found.ranks[0].cost_ns, (1700 + 300 + 390 + 200) * kMicrosecond);
  EXPECT_EQ(found.ranks[1].waited_ns, 1700 * kMicrosecond);
}

TEST(NcclWaits, HiddenAndShortOnesDoNotCount) {
  Job job(2);
  all_reduce(job, 1, {1000, 5000}, 5100);
  device_kernel(job, 0, 500, 5050);
  all_reduce(job, 2, {6000, 6025}, 6100);
  const MpiWaits found = mpi_waits(job.model);
  EXPECT_EQ(found.collectives.size(), 2u);
  EXPECT_TRUE(found.waits.empty());
}

TEST(NcclWaits, CausesOnTheDevice) {
  const auto cause = [](const char* what, TimeNs copies_end, TimeNs kernels_begin, TimeNs kernels_end) {
    Job job(2);
    all_reduce(job, 1, {0, 0}, 100);
    all_reduce(job, 2, {1000, 5000}, 5100);
    device_kernel(job, 0, 500, 1000);
    device_kernel(job, 1, kernels_begin, kernels_end);
    if (copies_end > 100) {
      store::CopyRow copy{};
      copy.start = 100 * kMicrosecond;
      copy.end = copies_end * kMicrosecond;
      copy.process = process(1);
      job.model.copies.push_back(copy);
    }
    const MpiWaits found = mpi_waits(job.model);
    EXPECT_EQ(found.ranks[0].cost_ns, 4000 * kMicrosecond) << what;
    EXPECT_EQ(found.why.longer_ns, 4000 * kMicrosecond) << what;
    TraceModel of = digest(job.model, 1000);
    EXPECT_EQ(mpi_waits(of).why.cause, found.why.cause) << what;
    EXPECT_EQ(mpi_waits(of).why.longer_ns, found.why.longer_ns) << what;
    std::erase_if(of.digest_sums, [](const auto& sum) { return sum.of >= store::SumOf::work; });
    EXPECT_EQ(mpi_waits(of).why.cause, RankCause::unknown) << "a digest of an earlier wic-prof";
    return found.why.cause;
  };
  EXPECT_EQ(cause("longer kernels", 0, 500, 5000), RankCause::kernels);
  EXPECT_EQ(cause("longer copies", 4000, 4500, 5000), RankCause::copies);
  EXPECT_EQ(cause("nothing to do, and the host is not known", 0, 4500, 5000), RankCause::host);
}

/// PyTorch's way: a thread for gradients calls NCCL, and the first one waits for the device. In us, rank 1 is late by
/// 4,000, in which its first thread has a CPU for `cpu`.
RankCause cause_in_first_thread(TimeNs cpu) {
  Job job(2);
  all_reduce(job, 1, {0, 0}, 100);
  all_reduce(job, 2, {1000, 5000}, 5100);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    device_kernel(job, rank, rank == 0 ? 500 : 4500, rank == 0 ? 1000 : 5000);
    store::MpiGapRow gap;
    gap.thread = 900;
    gap.gaps = 1;
    gap.end = gap.outside = 5000 * kMicrosecond;
    gap.run_delay = 0;
    gap.process = process(rank);
    job.model.mpi_gaps.push_back(gap);
    store::HostWaitRow wait{};
    wait.call = "cudaStreamSynchronize";
    wait.thread = process(rank);
    wait.begin = (rank == 0 ? 500 : 4500) * kMicrosecond;
    wait.end = 5100 * kMicrosecond;
    wait.cpu = wait.end - wait.begin;
    wait.process = process(rank);
    job.model.host_waits.push_back(wait);
    store::ThreadSampleRow sample;
    sample.thread = process(rank);
    sample.end = 5100 * kMicrosecond;
    sample.cpu = *wait.cpu + (rank == 0 ? 0 : cpu * kMicrosecond);
    sample.run_delay = 0;
    sample.process = process(rank);
    job.model.thread_samples.push_back(sample);
    sample.begin = -1'000'000 * kMicrosecond;  // before the first kernel of NCCL
    sample.end = 0;
    sample.cpu = (rank == 0 ? 900'000 : 100'000) * kMicrosecond;
    job.model.thread_samples.push_back(sample);
  }
  const RankCause cause = mpi_waits(job.model).why.cause;
  EXPECT_EQ(mpi_waits(digest(job.model, 1000)).why.cause, cause);
  return cause;
}

TEST(NcclWaits, CausesInTheFirstThread) {
  EXPECT_EQ(cause_in_first_thread(0), RankCause::slept);
  EXPECT_EQ(cause_in_first_thread(4000), RankCause::computed);
}

}  // namespace
}  // namespace wicprof::analyzer
