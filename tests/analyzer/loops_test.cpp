// Decoding of machine instructions, detection of loops, and their classification.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/machine_code/loop_kind.h"
#include "analyzer/machine_code/loop_text.h"
#include "analyzer/machine_code/nvdisasm.h"
#include "sass_listings.h"

namespace wicprof::analyzer {
namespace {

SassInstruction of(const std::string& text) {
  store::SassRow row{};
  row.text = text;
  return decode(row);
}

std::vector<SassInstruction> function_of(std::string_view body) {
  std::vector<SassInstruction> function;
  for (const store::SassRow& row : parse_nvdisasm(listings::kernel("k", body), 1, {"k"}))
    function.push_back(decode(row));
  return function;
}

// The judgement of the only loop.
LoopJudgement judge_only(std::string_view body) {
  const std::vector<SassInstruction> function = function_of(body);
  const std::vector<SassLoop> loops = find_loops(function);
  EXPECT_EQ(loops.size(), 1u);
  return loops.empty() ? LoopJudgement() : judge_loop(function, loops.front());
}

using Registers = std::vector<SassRegister>;
constexpr SassRegister kUR = 1000, kP = 2000, kUP = 3000;

TEST(Sass, RegistersOfALoad) {
  const SassInstruction load = of("@!P3 LDG.E.64.STRONG.SYS R8, desc[UR4][R2.64+0x10]");
  EXPECT_EQ(load.kind, SassKind::load);
  EXPECT_TRUE(load.strong);
  EXPECT_TRUE(load.conditional);
  EXPECT_EQ(load.operation, "LDG.E.64.STRONG.SYS");
  EXPECT_EQ(load.writes, (Registers{8, 9}));
  EXPECT_EQ(load.address, (Registers{2, 3}));
  EXPECT_EQ(load.guard, (Registers{kP + 3}));
  EXPECT_FALSE(of("LDG.E R2, desc[UR6][R2.64]").strong);
  EXPECT_TRUE(of("LDG.E.MMIO.SYS R2, desc[UR6][R2.64]").strong);
}

TEST(Sass, ResultsAndSources) {
  EXPECT_EQ(of("ISETP.NE.AND P0, PT, R0, RZ, PT").writes, (Registers{kP}));
  EXPECT_EQ(of("ISETP.NE.AND.EX P0, PT, R5, RZ, PT, P1").reads, (Registers{5, kP + 1}));
  EXPECT_EQ(of("IADD3 R4, P1, R2, 0x4, RZ").writes, (Registers{4, kP + 1}));
  EXPECT_EQ(of("IADD3 R4, P1, R2, 0x4, RZ").reads, (Registers{2}));
  EXPECT_EQ(of("IMAD.WIDE R2, R0, 0x4, R6").writes, (Registers{2, 3}));
  EXPECT_EQ(of("UIADD3 UR5, UP0, UR4, UR10, URZ").writes, (Registers{kUR + 5, kUP}));
  EXPECT_EQ(of("ATOMG.E.ADD.STRONG.GPU PT, R7, desc[UR4][R2.64], R9").writes, (Registers{7}));
  EXPECT_EQ(of("SHFL.IDX PT, R7, R7, R0, 0x1f").writes, (Registers{7}));
  EXPECT_EQ(of("LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT").writes, (Registers{kP}));
  EXPECT_EQ(of("VOTE.ALL P0, P1").writes, (Registers{kP}));
  EXPECT_EQ(of("VOTE.ALL P0, P1").reads, (Registers{kP + 1}));
  EXPECT_TRUE(of("STG.E desc[UR4][R2.64], R7").writes.empty());
  EXPECT_EQ(of("CS2R R4, SR_GLOBALTIMERLO").writes, (Registers{4, 5}));
  EXPECT_EQ(of("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1+URZ], R2").writes, (Registers{kP}));
}

TEST(Sass, Kinds) {
  EXPECT_EQ(of("MEMBAR.SC.GPU").kind, SassKind::fence);
  EXPECT_EQ(of("CCTL.IVALL").kind, SassKind::fence);
  EXPECT_EQ(of("NANOSLEEP R0").kind, SassKind::sleep);
  EXPECT_EQ(of("BAR.SYNC.DEFER_BLOCKING 0x0").kind, SassKind::barrier);
  EXPECT_EQ(of("RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5").kind, SassKind::store);
  EXPECT_EQ(of("STL [R1], R5").kind, SassKind::other);
  EXPECT_EQ(of("FFMA R11, R2, 2, R11").kind, SassKind::floating);
  EXPECT_EQ(of("HFMA2 R4, -RZ, RZ, 0, 0").kind, SassKind::other) << "a constant";
  EXPECT_EQ(of("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24").kind, SassKind::tensor);
  EXPECT_EQ(of("EXIT").kind, SassKind::end);
  EXPECT_EQ(of("").kind, SassKind::other);
  EXPECT_EQ(of("@").kind, SassKind::other);
}

TEST(Loops, ABranchToItselfAfterTheEndIsNoLoop) {
  const std::vector<SassInstruction> function = function_of(listings::kVolatilePoll);
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].head, 0x70u);
  EXPECT_EQ(loops[0].back, 0xa0u);
  EXPECT_EQ(loops[0].body.size(), 4u);
}

TEST(Loops, TwoBackEdgesAreTwoLoops) {
  const std::vector<SassInstruction> function = function_of(listings::kLock);
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].body.size(), 4u);
  EXPECT_EQ(loops[1].body.size(), 9u);
  EXPECT_EQ(loops[0].head, loops[1].head);
}

TEST(Loops, MayHaveAPartAfterTheKernelsEnd) {
  const std::vector<SassInstruction> function = function_of(listings::kTwoFlags);
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].body.size(), 7u) << "without the EXIT between its parts";
}

TEST(LoopKind, PollsAVolatileWord) {
  const LoopJudgement judgement = judge_only(listings::kVolatilePoll);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.strong);
  EXPECT_FALSE(judgement.sleeps);
  EXPECT_FALSE(judgement.deadline);
}

TEST(LoopKind, PollsWithAcquire) {
  EXPECT_EQ(judge_only(listings::kAcquirePoll).kind, LoopKind::poll);
  EXPECT_TRUE(judge_only(listings::kAcquirePoll).fences);
}

TEST(LoopKind, PollsWithADeadline) {
  const LoopJudgement judgement = judge_only(listings::kDeadlinePoll);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.deadline);
}

TEST(LoopKind, PollsWithSleeps) {
  const LoopJudgement judgement = judge_only(listings::kSleepingPoll);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.sleeps);
}

TEST(LoopKind, PollsWithAnAtomic) { EXPECT_EQ(judge_only(listings::kAtomicPoll).kind, LoopKind::atomic_poll); }

TEST(LoopKind, PollsWithAFence) {
  const LoopJudgement judgement = judge_only(listings::kFencedPoll);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_FALSE(judgement.strong);
  EXPECT_TRUE(judgement.fences);
}

TEST(LoopKind, PollsTwoWords) { EXPECT_EQ(judge_only(listings::kTwoFlags).kind, LoopKind::poll); }

TEST(LoopKind, BarrierAmongBlocks) {
  const LoopJudgement judgement = judge_only(listings::kGridBarrier);
  EXPECT_EQ(judgement.kind, LoopKind::grid_barrier) << reason_text(judgement);
}

TEST(LoopKind, ALockLoopContainsAPoll) {
  const std::vector<SassInstruction> function = function_of(listings::kLock);
  const std::vector<SassLoop> loops = find_loops(function);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(judge_loop(function, loops[0]).kind, LoopKind::poll);
  EXPECT_EQ(judge_loop(function, loops[1]).kind, LoopKind::lock) << reason_text(judge_loop(function, loops[1]));
}

TEST(LoopKind, SimilarLoopsAreNotPolling) {
  EXPECT_EQ(judge_only(listings::kStreaming).kind, LoopKind::work);
  EXPECT_EQ(judge_only(listings::kStrongSum).kind, LoopKind::work);
  EXPECT_EQ(judge_only(listings::kSearch).kind, LoopKind::work);
  EXPECT_EQ(judge_only(listings::kPointerChase).kind, LoopKind::pointer_chase);
  EXPECT_EQ(judge_only(listings::kAtomicUpdate).kind, LoopKind::atomic_update);
  EXPECT_EQ(judge_only(listings::kTryWait).kind, LoopKind::try_wait);
  for (const LoopKind kind : {LoopKind::work, LoopKind::pointer_chase, LoopKind::atomic_update, LoopKind::try_wait}) {
    EXPECT_FALSE(is_polling(kind));
  }
}

TEST(LoopKind, TriesOfAnMbarrierWithWorkOrACountAreNoWait) {
  const LoopJudgement counted = judge_only(listings::kCountedTries), works = judge_only(listings::kWorkBetweenTries);
  EXPECT_EQ(counted.kind, LoopKind::work);
  EXPECT_EQ(counted.reason, reasons::counted_tries);
  EXPECT_EQ(works.kind, LoopKind::work);
  EXPECT_EQ(works.reason, reasons::works_between_tries);
}

TEST(LoopKind, AnUpdateThatRereadsTheWordIsNoLock) {
  const LoopJudgement judgement = judge_only(listings::kRereadUpdate);
  EXPECT_EQ(judgement.kind, LoopKind::atomic_update) << reason_text(judgement);
  EXPECT_FALSE(judgement.poll_at);
}

TEST(LoopKind, ASearchWithAStopFlagIsWork) {
  const LoopJudgement judgement = judge_only(listings::kSearchWithStop);
  EXPECT_EQ(judgement.kind, LoopKind::work) << judgement.integers;
  EXPECT_GT(judgement.integers, 6u);
}

TEST(LoopKind, CountersAndClocksAreNoWork) {
  const LoopJudgement counted = judge_only(listings::kCountedPoll);
  EXPECT_EQ(counted.kind, LoopKind::poll) << reason_text(counted);
  EXPECT_GT(counted.integers, 0u);
  EXPECT_LE(counted.integers, 2u);
  EXPECT_EQ(judge_only(listings::kDeadlinePoll).integers, 0u);
  EXPECT_EQ(judge_only(listings::kSleepingPoll).integers, 0u) << "they compute the sleep";
}

TEST(LoopKind, AnAtomicThatChangesTheWordEachRoundIsWork) {
  EXPECT_EQ(judge_only(listings::kDrawNumbers).kind, LoopKind::work);
  EXPECT_EQ(judge_only(listings::kSetBit).kind, LoopKind::atomic_poll) << "the bit is set after the first round";
}

TEST(LoopKind, RealSpinWithADeadline) {
  const LoopJudgement judgement = judge_only(listings::kRealSpin);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.strong);
  EXPECT_TRUE(judgement.deadline);
  EXPECT_EQ(judgement.integers, 0u);
}

TEST(LoopKind, RealWork) {
  const std::vector<SassInstruction> function = function_of(listings::kRealWork);
  const std::vector<SassLoop> loops = find_loops(function);
  EXPECT_EQ(loops.size(), 3u);
  for (const SassLoop& loop : loops) EXPECT_EQ(judge_loop(function, loop).kind, LoopKind::work);
}

TEST(LoopKind, AStoreInTheLoopIsWork) {
  std::string body(listings::kVolatilePoll);
  const std::size_t yield = body.find("YIELD ;");
  body.replace(yield, 7, "STG.E desc[UR4][R8.64], R0 ;");
  EXPECT_EQ(judge_only(body).kind, LoopKind::work);
}

TEST(LoopKind, ALoadThatDecidesNothingIsNoWait) {
  // for (i = 0; i < n; ++i) (void)*flag;
  const LoopJudgement judgement = judge_only(R"(
.L_x_0:
        /*0000*/                   LDG.E.STRONG.SYS R0, desc[UR4][R4.64] ;
        /*0010*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0020*/                   ISETP.GE.AND P0, PT, R6, UR6, PT ;
        /*0030*/              @!P0 BRA `(.L_x_0) ;
        /*0040*/                   EXIT ;
)");
  EXPECT_EQ(judgement.kind, LoopKind::work) << reason_text(judgement);
}

// for (i = 0; i < *n; ++i) x *= 3;  with a volatile n.
TEST(LoopKind, CountingToABoundInMemoryIsWork) {
  const LoopJudgement judgement = judge_only(R"(
.L_x_0:
        /*0000*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0010*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0020*/                   IMAD R7, R7, 0x3, RZ ;
        /*0030*/                   ISETP.GE.U32.AND P0, PT, R6, R0, PT ;
        /*0040*/              @!P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
)");
  EXPECT_EQ(judgement.kind, LoopKind::work);
  EXPECT_EQ(judgement.reason, reasons::compares_progress);
}

// do { x ^= x << 13; x ^= x >> 17; } while (x > *limit);
TEST(LoopKind, AWalkToALimitInMemoryIsWork) {
  const LoopJudgement judgement = judge_only(R"(
.L_x_0:
        /*0000*/                   SHF.L.U32 R5, R4, 0xd, RZ ;
        /*0010*/                   LOP3.LUT R4, R4, R5, RZ, 0x3c, !PT ;
        /*0020*/                   SHF.R.U32.HI R5, RZ, 0x11, R4 ;
        /*0030*/                   LOP3.LUT R4, R4, R5, RZ, 0x3c, !PT ;
        /*0040*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0050*/                   ISETP.GT.U32.AND P0, PT, R4, R0, PT ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
        /*0070*/                   EXIT ;
)");
  EXPECT_EQ(judgement.kind, LoopKind::work);
  EXPECT_EQ(judgement.reason, reasons::compares_progress);
}

// while (*flag == 0) *beats = ++n;
TEST(LoopKind, ASignOfLifeIsNoWork) {
  const LoopJudgement judgement = judge_only(R"(
.L_x_0:
        /*0000*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0010*/                   STG.E.STRONG.SYS desc[UR4][R8.64], R6 ;
        /*0020*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0030*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0040*/              @!P0 BRA `(.L_x_0) ;
        /*0050*/                   EXIT ;
)");
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.writes);
}

// while (flags[i] == 0) i = (i + 1) % 16;  and the same without the remainder, which is a search.
TEST(LoopKind, PollingSeveralWordsInTurnIsAWait) {
  const std::string scan = R"(
.L_x_0:
        /*0000*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0010*/                   LOP3.LUT R6, R6, 0xf, RZ, 0xc0, !PT ;
        /*0020*/                   IMAD.WIDE.U32 R2, R6, 0x80, R8 ;
        /*0030*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0040*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0050*/              @!P0 BRA `(.L_x_0) ;
        /*0060*/                   EXIT ;
)";
  const LoopJudgement judgement = judge_only(scan);
  EXPECT_EQ(judgement.kind, LoopKind::poll) << reason_text(judgement);
  EXPECT_TRUE(judgement.scans);
  std::string search = scan;
  const std::string_view wraps = "LOP3.LUT R6, R6, 0xf, RZ, 0xc0, !PT ;";
  search.replace(search.find(wraps), wraps.size(), "NOP ;");
  EXPECT_EQ(judge_only(search).kind, LoopKind::work);
}

TEST(LoopKind, ACallOfAnUnknownFunctionIsWork) {
  const LoopJudgement judgement = judge_only(R"(
.L_x_0:
        /*0000*/                   CALL.ABS.NOINC `(elsewhere) ;
        /*0010*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0020*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0030*/              @!P0 BRA `(.L_x_0) ;
        /*0040*/                   EXIT ;
)");
  EXPECT_EQ(judgement.reason, reasons::calls);
}

}  // namespace
}  // namespace wicprof::analyzer
