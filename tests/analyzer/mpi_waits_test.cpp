// Who waits for whom among the ranks of an MPI program.
#include "analyzer/ranks/mpi_waits.h"

#include <gtest/gtest.h>

#include "analyzer/ranks/rank_times.h"
#include "rank_job.h"

namespace wicprof::analyzer {
namespace {

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

TEST(MpiWaits, ThreadsThatWaitAtTheSameTimePassItOnOnce) {
  Job job(2);
  constexpr std::uint32_t kThreads = 6;
  std::uint32_t number = 0;
  for (TimeNs step = 0; step < 200; ++step) {  // the ranks send in turn; without counting once, as many ways as steps
    const std::int32_t from = static_cast<std::int32_t>(step % 2), to = 1 - from;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      const TimeNs sent = 100 * (step + 2) + thread;
      ++number;
      job.message(MpiOperation::send, from, to, sent, sent + 1, number);
      job.model.mpi_calls.back().thread += 1000 * thread;
      job.message(MpiOperation::recv, to, from, 100 * step + thread, sent + 2, number);
      job.model.mpi_calls.back().thread += 1000 * thread;
    }
  }
  EXPECT_EQ(job.waits().waits.size(), 200u * kThreads);
  for (const std::int32_t rank : {0, 1}) EXPECT_LE(job.cost(rank), 200 * 200 * static_cast<TimeNs>(kThreads));
}

TEST(MpiWaits, ABufferedSendWaitsForNobody) {
  Job job(2);
  job.message(MpiOperation::bsend, 0, 1, 10, 72);
  job.message(MpiOperation::probe, 1, 0, 70, 73);
  job.message(MpiOperation::recv, 1, 0, 74, 75);
  EXPECT_TRUE(job.waits().waits.empty());
  Job late(2);
  late.message(MpiOperation::rsend, 0, 1, 60, 61);
  late.message(MpiOperation::probe, 1, 0, 10, 62);
  late.message(MpiOperation::recv, 1, 0, 63, 64);
  ASSERT_EQ(late.waits().waits.size(), 1u);
  EXPECT_EQ(late.waits().waits[0].operation, MpiOperation::probe);
  EXPECT_EQ(late.cost(0), 50);
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

}  // namespace
}  // namespace wicprof::analyzer
