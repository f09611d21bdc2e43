// What diagnose() concludes of ranks of MPI, and what it does not.
#include <gtest/gtest.h>

#include "analyzer/stuck/stuck.h"

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kNow = 100 * kSecond;
constexpr CommunicatorId kWorldId = 77;

OpenMpiCall call_of(MpiOperation operation, std::uint32_t sequence, TimeNs ago = 5 * kSecond) {
  OpenMpiCall call;
  call.operation = operation;
  call.begin = kNow - ago;
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
  explicit Job(std::int32_t size) : size_(size) { view.now = kNow; }

  Job& rank(std::int32_t rank, const OpenMpiCall& call) {
    came(rank);
    view.mpi_calls.push_back({pid(rank), call});
    return *this;
  }
  Job& rank_outside(std::int32_t rank) {
    OpenMpiCall last = call_of(MpiOperation::barrier, 3, 6 * kSecond);
    last.end = kNow - 6 * kSecond + 1;
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
  wait.begin = wait.seen = kNow - 5 * kSecond;
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
  job.view.mpi_calls[0].value.end = kNow - kSecond / 2;  // it asks again and again
  const StuckAnswer answer = diagnose(job.view);
  ASSERT_EQ(answer.causes.size(), 1u);
  EXPECT_TRUE(says(answer.causes[0], "rank 1 of 2"));
}

}  // namespace
}  // namespace wicprof::analyzer
