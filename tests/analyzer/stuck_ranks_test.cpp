// What diagnose() concludes of ranks of MPI and NCCL, and what it does not.
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/stuck/stuck.h"

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kAsked = 100 * kSecond;
constexpr CommunicatorId kWorldId = 77;

OpenMpiCall call_of(MpiOperation operation, std::uint32_t sequence, TimeNs ago = 5 * kSecond) {
  OpenMpiCall call;
  call.operation = operation;
  call.begin = kAsked - ago;
  if (mpi_kind(operation) != MpiKind::local) call.communicator = kWorldId;
  call.sequence = sequence;
  return call;
}

OpenMpiCall receive_from(std::int32_t peer) {
  OpenMpiCall call = call_of(MpiOperation::recv, 0);
  call.peer = peer;
  return call;
}

/// A job of `size` ranks, the processes 100, 101, ..., which have left 3 collectives.
class Job {
 public:
  explicit Job(std::int32_t size) : size_(size) { view.now = kAsked; }

  Job& rank(std::int32_t rank, const OpenMpiCall& call) {
    came(rank);
    view.mpi_calls.push_back({pid(rank), call});
    return *this;
  }
  Job& rank_outside(std::int32_t rank) {
    OpenMpiCall last = call_of(MpiOperation::barrier, 3, 6 * kSecond);
    last.end = kAsked - 6 * kSecond + 1;
    return this->rank(rank, last);
  }
  void ended(std::int32_t rank) { view.processes.push_back({pid(rank), "app", rank, size_, false}); }
  static std::uint32_t pid(std::int32_t rank) { return 100 + static_cast<std::uint32_t>(rank); }

  StuckView view;

 private:
  void came(std::int32_t rank) {
    OpenCommunicator world{kWorldId, rank, size_, rank, 3, {}};
    copy_name(world.name, "MPI_COMM_WORLD");
    view.communicators.push_back({pid(rank), world});
  }
  std::int32_t size_;
};

bool says(const Cause& cause, const char* part) { return cause.text.find(part) != std::string::npos; }

TEST(StuckRanks, ShortCallsAreNoCause) {
  Job job(2);
  job.rank(0, call_of(MpiOperation::barrier, 4, kSecond / 2)).rank_outside(1);
  const StuckAnswer answer = diagnose(job.view);
  EXPECT_TRUE(answer.causes.empty());
  EXPECT_EQ(answer.ranks.size(), 2u);
}

TEST(StuckRanks, ARankWithoutATraceIsNotBlamed) {
  Job job(4);
  job.rank(0, call_of(MpiOperation::barrier, 4)).rank(1, call_of(MpiOperation::barrier, 4)).rank_outside(2);
  job.view.by = SeenBy::traces;
  job.view.has_all_ranks = false;
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "rank 2 of 4 (process 102) keeps ranks 0, 1 waiting"));
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
  Job others(4);
  others.rank(0, call_of(MpiOperation::barrier, 4)).rank(1, call_of(MpiOperation::barrier, 4));
  others.view.by = SeenBy::traces;
  others.view.has_all_ranks = false;
  const StuckAnswer without = diagnose(others.view);
  ASSERT_EQ(without.causes.size(), 1u);
  EXPECT_EQ(without.causes[0].confidence, Confidence::possible);
  EXPECT_TRUE(says(without.causes[0], "ranks 2, 3 of 4: no trace was given of them; ranks 0, 1 wait for them"));
}

TEST(StuckRanks, ARankWhoseRecordingEndedBeforeIsNotSurelyTheCause) {
  Job job(2);
  job.rank(0, call_of(MpiOperation::barrier, 4)).rank_outside(1);
  job.view.by = SeenBy::traces;
  job.view.processes = {{Job::pid(1), "app", 1, 2}};
  const auto confidence_if_seen_until = [&](TimeNs before_the_wait, TimeNs error) {
    job.view.clock_error = error;
    job.view.processes[0].until = kAsked - 5 * kSecond - before_the_wait;
    return diagnose(job.view).causes.front().confidence;
  };
  EXPECT_EQ(confidence_if_seen_until(-kSecond, 0), Confidence::likely);
  EXPECT_EQ(confidence_if_seen_until(kMillisecond, 0), Confidence::possible);
  EXPECT_EQ(confidence_if_seen_until(kMillisecond, 2 * kMillisecond), Confidence::likely);  // the clocks do not tell
}

TEST(StuckRanks, ARankThatHasNotComeToInit) {
  StuckView view;
  view.now = kAsked;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    view.processes.push_back({100 + rank, "app", static_cast<std::int32_t>(rank), 3});
    if (rank != 1) view.mpi_calls.push_back({100 + rank, call_of(MpiOperation::init, 0)});
  }
  const StuckAnswer answer = diagnose(view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "rank 1 of 3 (process 101) keeps ranks 0, 2 waiting: it has not come to MPI"));
}

TEST(StuckRanks, ARankThatHasEnded) {
  Job job(3);
  job.rank(0, call_of(MpiOperation::barrier, 4)).rank_outside(1).rank(2, call_of(MpiOperation::barrier, 4));
  job.ended(1);
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
  EXPECT_TRUE(says(answer.causes[0], "rank 1 of 3 (process 101) keeps ranks 0, 2 waiting: it has ended without"));
}

TEST(StuckRanks, AJobThatHasEndedIsNotShown) {
  Job job(2);
  job.rank_outside(0).rank_outside(1);
  EXPECT_EQ(diagnose(job.view).ranks.size(), 2u);
  job.ended(0);
  job.ended(1);
  EXPECT_TRUE(diagnose(job.view).ranks.empty());
}

TEST(StuckRanks, ARankThatNeverCame) {
  Job job(3);
  job.rank(0, call_of(MpiOperation::allreduce, 4)).rank(2, call_of(MpiOperation::allreduce, 4));
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "rank 1 of 3 keeps ranks 0, 2 waiting: it never came"));
}

TEST(StuckRanks, ARankThatLeftTheCollectiveIsNotMissed) {
  Job job(2);
  job.rank(0, call_of(MpiOperation::bcast, 3)).rank_outside(1);
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::waiting_call);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::unknown);
}

TEST(StuckRanks, OtherSizes) {
  Job job(3);
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    OpenMpiCall call = call_of(MpiOperation::allreduce, 4);
    call.bytes = rank == 2 ? 16 : 8;
    job.rank(rank, call);
  }
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::mismatched_call);
  EXPECT_TRUE(says(answer.causes[0], "rank 2 with 16 bytes and ranks 0, 1 with 8 bytes"));
}

TEST(StuckRanks, SizesThatAreNotKnownAreNoMismatch) {
  Job job(2);
  job.rank(0, call_of(MpiOperation::allreduce, 4));
  OpenMpiCall call = call_of(MpiOperation::allreduce, 4);
  call.bytes = 16;
  job.rank(1, call);
  EXPECT_EQ(diagnose(job.view).causes.at(0).kind, CauseKind::waiting_call);
}

TEST(StuckRanks, ACircleOfThreeBehindWhichOthersWait) {
  Job job(4);
  job.rank(0, receive_from(1)).rank(1, receive_from(2)).rank(2, receive_from(0)).rank(3, receive_from(0));
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 2u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::mutual_wait);
  EXPECT_TRUE(says(answer.causes[0], "ranks 0 to 2 wait for each other"));
  EXPECT_EQ(answer.causes[1].kind, CauseKind::consequence);
  EXPECT_TRUE(says(answer.causes[1], "rank 3 waits"));
}

OpenMpiCall message(MpiOperation operation, std::int32_t peer, std::int32_t tag) {
  OpenMpiCall call = call_of(operation, 0);
  call.peer = peer;
  call.tag = tag;
  return call;
}

TEST(StuckRanks, ADeadlockOfSendsOrOfReceives) {
  for (const auto& [operation, words] : {std::pair(MpiOperation::send, "a deadlock: each sends before it receives"),
                                         std::pair(MpiOperation::recv, "a deadlock: each receives before it sends")}) {
    Job job(3);
    job.rank(0, message(operation, 2, 5)).rank_outside(1).rank(2, message(operation, 0, 5));
    const StuckAnswer answer = diagnose(job.view);
    ASSERT_EQ(answer.causes.size(), 1u);
    EXPECT_EQ(answer.causes[0].kind, CauseKind::mutual_wait);
    EXPECT_TRUE(says(answer.causes[0], "ranks 0, 2 wait for each other")) << answer.causes[0].text;
    EXPECT_TRUE(says(answer.causes[0], words)) << answer.causes[0].text;
  }
}

/// Rank 1 receives from rank 0 with tag 5, and the others are in a collective without it.
class Misfit : public testing::Test {
 protected:
  Misfit() {
    job.rank(0, call_of(MpiOperation::allreduce, 4))
        .rank(1, message(MpiOperation::recv, 0, 5))
        .rank(2, call_of(MpiOperation::allreduce, 4));
  }
  void messages(std::int32_t rank, bool received, std::int32_t peer, std::int32_t tag, std::uint32_t count) {
    job.view.messages.push_back({Job::pid(rank), received, kWorldId, peer, tag, count, kAsked - 6 * kSecond});
  }
  Cause first() const { return diagnose(job.view).causes.at(0); }

  Job job{3};
};

TEST_F(Misfit, AnotherTagOfTheSameSender) {
  messages(0, false, 1, 6, 3);
  messages(1, true, 0, 6, 2);
  messages(0, false, 1, 5, 7);
  messages(1, true, 0, 5, 7);
  messages(2, false, 1, 8, 1);  // neither the sender nor the tag
  EXPECT_EQ(first().kind, CauseKind::mismatched_call);
  EXPECT_EQ(first().confidence, Confidence::likely);
  EXPECT_EQ(
      first().text,
      "rank 1 of 3 (process 101) waits for a message from rank 0 with tag 5 that has not been sent, but rank 0 has "
      "sent rank 1 a message with tag 6 that no call has received; ranks 0, 1 wait for each other");
}

TEST_F(Misfit, AnotherSender) {
  messages(2, false, 1, 5, 1);
  EXPECT_EQ(first().kind, CauseKind::mismatched_call);
  EXPECT_TRUE(says(first(), "but rank 2 has sent rank 1 a message with tag 5 that no call has received"));
}

TEST_F(Misfit, ASendThatWaits) {
  Job other(2);
  other.rank(0, message(MpiOperation::ssend, 1, 6)).rank(1, message(MpiOperation::recv, 0, 5));
  const Cause cause = diagnose(other.view).causes.at(0);
  EXPECT_EQ(cause.kind, CauseKind::mismatched_call);
  EXPECT_TRUE(says(cause, "but rank 0 sends rank 1 one with tag 6, which no call receives")) << cause.text;
}

TEST_F(Misfit, IsNoneWhereAllHasBeenReceivedOrFits) {
  messages(0, false, 1, 6, 2);
  messages(1, true, 0, 6, 2);
  EXPECT_EQ(first().kind, CauseKind::mutual_wait);
  messages(0, false, 1, 7, 1);
  messages(0, false, 1, 5, 1);  // it is about to be received
  EXPECT_EQ(first().kind, CauseKind::mutual_wait);
}

TEST_F(Misfit, OfASenderThatIsElsewhereIsOnlyEvidence) {
  Job other(2);
  other.rank_outside(0).rank(1, message(MpiOperation::recv, 0, 5));
  other.view.messages.push_back({Job::pid(0), false, kWorldId, 1, 6, 1, kAsked - 6 * kSecond});
  const Cause cause = diagnose(other.view).causes.at(0);
  EXPECT_EQ(cause.kind, CauseKind::absent_rank);
  EXPECT_TRUE(says(cause, "it has not sent rank 1 the message with tag 5")) << cause.text;
  EXPECT_EQ(cause.evidence.back(), "rank 0 has sent rank 1 a message with tag 6 that no call has received");
}

TEST(StuckRanks, OfManyWhoCouldSendNoneIsBlamed) {
  Job job(3);
  job.rank(0, receive_from(-1)).rank_outside(1).rank_outside(2);
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::waiting_call);
  EXPECT_EQ(answer.ranks[0].needs, (std::vector<std::int32_t>{1, 2}));
}

TEST(StuckRanks, TheOnlyOneWhoCouldSendIsPossible) {
  Job job(3);
  job.rank(0, receive_from(-1)).rank_outside(1).rank(2, receive_from(0));
  const StuckAnswer answer = diagnose(job.view);
  EXPECT_EQ(answer.causes.at(0).kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::possible);
}

TEST(StuckRanks, ARankThatWaitsForAKernelIsNotTheFirstCause) {
  Job job(2);
  job.rank(0, call_of(MpiOperation::barrier, 4)).rank_outside(1);
  OpenWait wait;
  copy_name(wait.site, "halo");
  wait.names_wanted = 1;
  wait.wanted = 2;
  wait.value = 1;
  wait.address = 0x1000;
  wait.begin = wait.seen = kAsked - 5 * kSecond;
  job.view.waits.push_back({Job::pid(1), wait});
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 2u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::missing_signal);
  EXPECT_EQ(answer.causes[1].kind, CauseKind::consequence);
  EXPECT_TRUE(says(answer.causes[1], "it waits itself, for word 0x1000 of site halo"));
}

TEST(StuckRanks, ALookThatWasLongAgoIsNoWait) {
  Job job(2);
  OpenMpiCall look = call_of(MpiOperation::test, 0);
  look.end = look.begin + 1;
  look.requests = 1;
  look.awaited[0] = {kWorldId, look.begin - kSecond, 1, 1, 5, MpiOperation::irecv, {}};
  job.rank(0, look).rank_outside(1);
  EXPECT_TRUE(diagnose(job.view).causes.empty());
  job.view.mpi_calls[0].value.end = kAsked - kSecond / 2;  // it asks again and again
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "rank 1 of 2"));
}

/// Ranks of NCCL, the processes 100, 101, ...
class Nccl {
 public:
  Nccl() { view.now = kAsked; }

  /// `sizes`: of the collectives that the rank has enqueued, the last of them `ago`.
  Nccl& rank(std::int32_t rank, const std::vector<std::int64_t>& sizes, TimeNs ago = 5 * kSecond,
             CommunicatorId communicator = 9, std::int32_t size = 3) {
    OpenNccl of;
    of.communicator = communicator;
    of.rank = of.world_rank = rank;
    of.size = size;
    copy_name(of.name, communicator == 9 ? "world" : "other");
    TimeNs at = kAsked - ago - static_cast<TimeNs>(sizes.size()) * kMillisecond;
    for (const std::int64_t bytes : sizes) {
      at += kMillisecond;
      of.add({at, bytes, -1, MpiOperation::nccl_all_reduce, {}});
    }
    view.nccl.push_back({Job::pid(rank), of});
    return *this;
  }

  StuckView view;
};

TEST(StuckNccl, TheRankThatEnqueuedLess) {
  Nccl job;
  job.rank(0, {8, 8, 8}).rank(1, {8, 8}).rank(2, {8, 8, 8});
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_EQ(answer.causes[0].confidence, Confidence::likely);
  EXPECT_TRUE(says(answer.causes[0],
                   "rank 1 of 3 (process 101) keeps ranks 0, 2 waiting: it enqueued ncclAllReduce number 2 of world"));
  EXPECT_TRUE(says(answer.causes[0], "it has not enqueued ncclAllReduce number 3 of world"));
  ASSERT_EQ(answer.ranks.size(), 3u);
  EXPECT_EQ(answer.ranks[0].library, "NCCL");
  EXPECT_EQ(answer.ranks[2].needs, std::vector<std::int32_t>{1});
}

TEST(StuckNccl, HostThreadsBehindItFollow) {
  Nccl job;
  job.rank(0, {8, 8}).rank(1, {8});
  OpenCall call;
  call.thread = 7;
  call.begin = kAsked - 4 * kSecond;
  copy_name(call.name, "cudaStreamSynchronize");
  job.view.calls = {{Job::pid(0), call}, {Job::pid(1), call}};
  job.view.call_values.resize(2);
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 3u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::absent_rank);
  EXPECT_TRUE(says(answer.causes[0], "keeps rank 0 waiting"));
  EXPECT_EQ(answer.causes[1].kind, CauseKind::waiting_call);  // of rank 1, which does not wait in NCCL
  EXPECT_EQ(answer.causes[2].kind, CauseKind::consequence);
}

TEST(StuckNccl, WhoIsEvenOrOnlyBrieflyAheadIsNoCause) {
  Nccl job;
  job.rank(0, {8, 8}).rank(1, {8, 8});
  EXPECT_TRUE(diagnose(job.view).causes.empty());
  Nccl brief;
  brief.rank(0, {8, 8, 8}, kSecond / 2).rank(1, {8, 8});
  EXPECT_TRUE(diagnose(brief.view).causes.empty());
}

TEST(StuckNccl, OtherSizes) {
  Nccl job;
  job.rank(0, {8, 16, 4}).rank(1, {8, 8}).rank(2, {8, 16});
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::mismatched_call);
  EXPECT_TRUE(says(answer.causes[0], "number 2 of world is not the same call in all ranks: rank 1 with 8 bytes"));
  Nccl goes_on;  // what differed did not keep it
  goes_on.rank(0, {8, 16, 4}, kSecond / 2).rank(1, {8, 8, 4}, kSecond / 2);
  EXPECT_TRUE(diagnose(goes_on.view).causes.empty());
}

TEST(StuckNccl, FarAheadTheCallIsNotKnown) {
  Nccl job;
  job.rank(0, std::vector<std::int64_t>(40, 8)).rank(1, {8});
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "it has not enqueued collective number 2 of world"));
}

TEST(StuckNccl, CommunicatorsInOppositeOrders) {
  Nccl job;
  job.rank(0, {8}).rank(1, {}).rank(0, {}, 0, 4).rank(1, {8}, 5 * kSecond, 4);
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_EQ(answer.causes[0].kind, CauseKind::mutual_wait);
  EXPECT_TRUE(says(answer.causes[0], "in different orders"));
}

TEST(StuckNccl, RanksThatCannotBeToldApartAreNotJudged) {
  Nccl two_devices;  // one process has two ranks
  two_devices.rank(0, {8, 8}).rank(0, {8});
  EXPECT_TRUE(diagnose(two_devices.view).causes.empty());
  Nccl alone;  // the other ranks are recorded elsewhere
  alone.rank(0, {8, 8});
  EXPECT_TRUE(diagnose(alone.view).causes.empty());
}

TEST(StuckNccl, ARankThatHasEnded) {
  Nccl job;
  job.rank(0, {8, 8}).rank(1, {8});
  job.view.processes.push_back({Job::pid(1), "app", 1, 3, false});
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "it has ended; it enqueued ncclAllReduce number 1 of world"));
  job.view.processes.push_back({Job::pid(0), "app", 0, 3, false});
  EXPECT_TRUE(diagnose(job.view).ranks.empty());
}

}  // namespace
}  // namespace wicprof::analyzer
