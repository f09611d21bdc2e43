// Verdicts on small loops.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx_texts.h"
#include "rewriter/waits/recognize.h"
#include "rewriter/waits/site_names.h"

namespace wicprof::rewriter {
namespace {

/// "verdict pause" of each loop of the kernel, in the order of the back edges; the reasons on failure.
std::vector<std::string> verdicts_of(const std::string& body, std::string* reasons = nullptr) {
  const std::string text = kernel(body);
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  std::vector<std::string> found;
  if (!module) return found;
  for (const FunctionVerdicts& function : recognize(*module)) {
    EXPECT_EQ(function.problem, "");
    for (const LoopVerdict& loop : function.loops) {
      found.push_back(std::string(name_of(loop.verdict)));
      if (loop.verdict == Verdict::wait) found.back() += " " + std::string(name_of(loop.pause));
      if (reasons != nullptr) *reasons += loop.reason + "\n";
    }
  }
  return found;
}

void expect(const std::string& body, const std::vector<std::string>& wanted) {
  std::string reasons;
  EXPECT_EQ(verdicts_of(body, &reasons), wanted) << body << "\n" << reasons;
}

TEST(RewriterRecognize, FlagsAreWaits) {
  expect("$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;", {"wait any"});
  expect("$L: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;", {"wait any"});
  expect("$L: atom.global.add.u32 %r2, [%rd1], 0; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;", {"wait any"});
  expect("$L: membar.gl; ld.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;", {"wait any"});
}

TEST(RewriterRecognize, ALoopStandsWhereItsCodeIsNotInlinedDeeper) {
  // Line 21 calls a function that loads; line 22 decides. The function with the loop is called in line 7.
  const std::string text = kernel(
      ".loc 1 7 3\n$L: .loc 1 21 5, function_name $i0, inlined_at 1 7 3\n"
      ".loc 1 30 3, function_name $i1, inlined_at 1 21 5\nld.volatile.global.u32 %r2, [%rd1];\n"
      ".loc 1 22 5, function_name $i0, inlined_at 1 7 3\nsetp.eq.s32 %p1, %r2, 0; @%p1 bra $L;\n"
      "$M: .loc 1 30 3, function_name $i1, inlined_at 1 21 5\nld.volatile.global.u32 %r2, [%rd1];"
      "setp.eq.s32 %p1, %r2, 0; @%p1 bra $M;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module) << module.error().message;
  const std::vector<LoopVerdict> loops = recognize(*module).front().loops;
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].place.line, 21);
  EXPECT_EQ(loops[0].called_at.line, 7);
  EXPECT_EQ(loops[0].name, "k:21");
  EXPECT_EQ(loops[1].name, "k:30");
}

TEST(RewriterRecognize, EachOwnerHasANameOfItsOwn) {
  SiteNames names;
  EXPECT_EQ(names.of("wait:7", "a"), "wait:7");
  EXPECT_EQ(names.of("wait:7", "b"), "wait:7#2");
  EXPECT_EQ(names.of("wait:7#2", "c"), "wait:7#3");
  EXPECT_EQ(names.of("wait:7", "a"), "wait:7");
  EXPECT_EQ(names.of("wait:7#2", "c"), "wait:7#3");
  const std::string longest(60, 'k');
  const std::string first = names.of(longest + ":7", "d"), second = names.of(longest + ":7", "e");
  EXPECT_EQ(first, longest.substr(0, 45) + ":7");
  EXPECT_EQ(second, longest.substr(0, 43) + ":7#2");
}

TEST(RewriterRecognize, VotesOfTheBlockAndBroadcastsAreWaits) {
  expect("$L: ld.acquire.gpu.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; bar.red.or.pred %p2, 0, %p1; @%p2 bra $L;",
         {"wait any"});
  expect(
      "$L: ld.volatile.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; barrier.red.popc.aligned.u32 %r3, 0, %p1;"
      "setp.lt.u32 %p2, %r3, %r1; @%p2 bra $L;",
      {"wait any"});
  // A vote about what the block computes itself.
  expect(
      "mov.u32 %r3, 0; $L: add.s32 %r3, %r3, 1; ld.volatile.u32 %r2, [%rd1]; setp.lt.s32 %p1, %r3, %r1;"
      "bar.red.or.pred %p2, 0, %p1; @%p2 bra $L;",
      {"not_a_wait"});
  const auto broadcast = [](const std::string& passes_on) {
    return "cvta.shared.u64 %rd4, 64; mov.u32 %r9, %tid.x; setp.ne.s32 %p4, %r9, 0;"
           "$L: @%p4 bra $S; ld.acquire.gpu.u32 %r2, [%rd1];" +
           passes_on +
           "st.shared.u32 [%rd4], %r2; $S: bar.sync 0; ld.shared.u32 %r3, [%rd4]; bar.sync 0; setp.eq.s32 %p1, %r3, 0;"
           "@%p1 bra $L;";
  };
  expect(broadcast(""), {"wait any"});
  expect(broadcast("st.global.u32 [%rd1+8], %r9;"), {"wait_not_patchable"});
  expect(broadcast("atom.global.add.u32 %r2, [%rd1], 1;"), {"unknown"});
}

TEST(RewriterRecognize, WordsInTurnAreWaitsAndSearchesAreNot) {
  const std::string next =
      "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd3, %rd1, %rd4; ld.volatile.global.u32 %r3, [%rd3];"
      "setp.eq.s32 %p1, %r3, 0; @!%p1 bra $D;";
  expect("mov.u32 %r2, 0; $L:" + next + "xor.b32 %r2, %r2, 1; bra.uni $L; $D:", {"wait brief"});
  expect("mov.u32 %r2, 0; $L:" + next + "add.s32 %r2, %r2, 1; rem.u32 %r2, %r2, %r1; bra.uni $L; $D:", {"wait brief"});
  // A free lock, or a free place in a table.
  expect(
      "mov.u32 %r2, 0; $L: mul.wide.u32 %rd4, %r2, 4; add.s64 %rd3, %rd1, %rd4; atom.global.cas.b32 %r3, [%rd3], 0, 1;"
      "setp.eq.s32 %p1, %r3, 0; @%p1 bra $D; xor.b32 %r2, %r2, 1; bra.uni $L; $D:",
      {"wait_not_patchable"});
  // A list without an end, a hash table, a number of tries, and a word that says where the next one is.
  expect("mov.u32 %r2, 0; $L:" + next + "add.s32 %r2, %r2, 1; bra.uni $L; $D:", {"not_a_wait"});
  expect("mov.u32 %r2, 0; $L:" + next +
             "setp.eq.s32 %p2, %r3, %r1; @%p2 bra $D; add.s32 %r2, %r2, 1; and.b32 %r2, %r2, %r1; bra.uni $L; $D:",
         {"not_a_wait"});
  expect("mov.u32 %r2, 0; mov.u32 %r4, 0; $L:" + next +
             "add.s32 %r4, %r4, 1; setp.gt.s32 %p2, %r4, 9; @%p2 bra $D; xor.b32 %r2, %r2, 1; bra.uni $L; $D:",
         {"not_a_wait"});
  expect("mov.u32 %r2, 0; $L:" + next + "xor.b32 %r2, %r2, %r3; bra.uni $L; $D:", {"not_a_wait"});
  // Of a few words, each of which the loop asks once for a key and for an end.
  const auto of_two = [&](const std::string& also) {
    return "mov.u32 %r2, 0; mov.u32 %r4, 0; $L:" + next + also +
           "add.s32 %r2, %r2, 1; and.b32 %r2, %r2, 1; bra.uni $L; $D:";
  };
  const std::string end = "setp.eq.s32 %p2, %r3, %r1; @%p2 bra $D;",
                    count = "add.s32 %r4, %r4, 1; setp.gt.s32 %p3, %r4, 1; @%p3 bra $D;";
  expect(of_two(end), {"wait any"});
  expect(of_two(count), {"wait any"});
  expect(of_two(end + count), {"not_a_wait"});
}

TEST(RewriterRecognize, MemoryOfSeveralDevicesAtOnceIsFoundAndOwnMemoryMayBeWritten) {
  const std::string rest = "setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;";
  expect("$L: multimem.ld_reduce.relaxed.sys.global.add.u32 %r2, [%rd1];" + rest, {"wait_not_patchable"});
  expect("$L: multimem.ld_reduce.weak.global.add.u32 %r2, [%rd1];" + rest, {"not_a_wait"});
  expect("$L: ld.volatile.global.u32 %r2, [%rd1]; st.local.u32 [%rd2], %r2;" + rest, {"wait any"});
  expect("$L: ld.volatile.global.u32 %r2, [%rd1]; st.u32 [%rd2], %r2;" + rest, {"wait_not_patchable"});
  // A sum of what was polled.
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; ld.local.u32 %r3, [%rd2]; add.u32 %r3, %r3, %r2;"
      "st.local.u32 [%rd2], %r3;" +
          rest,
      {"unknown"});
}

TEST(RewriterRecognize, TheSmallestNumberIsANumber) {
  expect(
      "mov.u64 %rd3, -9223372036854775808; $L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0;"
      "@%p1 bra $L;",
      {"wait any"});
}

TEST(RewriterRecognize, OtherWordsMayStandBehindTheBranch) {
  expect("$L: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; @%p1 bra $D; bra.uni $L; $D:", {"wait any"});
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; selp.u32 %r3, 1, 0, %p1;"
      "setp.eq.s32 %p2, %r3, 0; @!%p2 bra $D; bra.uni $L; $D:",
      {"wait any"});
}

TEST(RewriterRecognize, ADeadlineLeavesAWaitAWait) {
  const std::string counter =
      "mov.u32 %r3, 0; $L: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0;"
      "add.s32 %r3, %r3, 1; setp.gt.u32 %p2, %r3, 1000; or.pred %p3, %p1, %p2; @!%p3 bra $L;";
  expect(counter, {"wait any"});
  expect(
      "mov.u64 %rd3, %clock64; $L: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; @%p1 bra $D;"
      "mov.u64 %rd4, %clock64; sub.s64 %rd5, %rd4, %rd3; setp.lt.s64 %p2, %rd5, 1000; @%p2 bra $L; $D:",
      {"wait any"});
}

TEST(RewriterRecognize, LocksAndVotesSleepBriefly) {
  expect("$L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra $L;", {"wait brief"});
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, -1;"
      "@%p2 bra $L;",
      {"wait brief"});
  expect("$L: ld.volatile.shared.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;", {"wait brief"});
}

TEST(RewriterRecognize, AnAtomicThatRepeatsItselfTakesALock) {
  const std::string test = "and.b32 %r3, %r2, 4; setp.ne.s32 %p1, %r3, 0; @%p1 bra $L;";
  expect("$L: atom.acquire.gpu.global.or.b32 %r2, [%rd1], 4; " + test, {"wait brief"});
  expect("$L: atom.global.and.b32 %r2, [%rd1], -5; " + test, {"wait brief"});
  expect("$L: ld.global.u64 %rd3, [%rd1+8]; atom.or.b32 %r2, [%rd3], 4; " + test, {"wait brief"});
  expect("mov.u32 %r4, 1; $L: atom.global.or.b32 %r2, [%rd1], %r4; shl.b32 %r4, %r4, 1; " + test, {"not_a_wait"});
  expect("$L: atom.global.xor.b32 %r2, [%rd1], 4; " + test, {"not_a_wait"});
}

TEST(RewriterRecognize, APauseByTheClockIsCountedOnly) {
  expect(
      "mov.u64 %rd3, %globaltimer; $L: mov.u64 %rd4, %globaltimer; sub.s64 %rd5, %rd4, %rd3;"
      "cvt.u32.u64 %r4, %rd5; nanosleep.u32 %r4;"
      "ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;",
      {"wait none"});
}

TEST(RewriterRecognize, WaitsThatDoMoreStayAsTheyAre) {
  const std::string poll = "ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";
  expect("$L: st.volatile.global.u32 [%rd1+8], 1; " + poll, {"wait_not_patchable"});
  expect("$L: bar.sync 0; " + poll, {"wait_not_patchable"});
  expect("$L: red.global.add.u32 [%rd1+8], 1; " + poll, {"wait_not_patchable"});
  expect("$L: call.uni helper; " + poll, {"wait_not_patchable"});
  expect("$L: mbarrier.try_wait.parity.shared.b64 %p1, [%rd1], 0; @!%p1 bra $L;", {"wait_not_patchable"});
  expect("$L: mbarrier.test_wait.shared::cta.b64 %p1, [%rd1], %rd2; @!%p1 bra $L;", {"wait_not_patchable"});
}

TEST(RewriterRecognize, WorkIsNoWait) {
  // A limit in memory.
  expect(
      "mov.u32 %r3, 0; $L: add.s32 %r3, %r3, 1; ld.volatile.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r3, %r2;"
      "@%p1 bra $L;",
      {"not_a_wait"});
  // A search.
  expect(
      "mov.u64 %rd3, %rd1; $L: ld.volatile.global.u32 %r2, [%rd3]; add.s64 %rd3, %rd3, 4;"
      "setp.ne.s32 %p1, %r2, 0; @%p1 bra $L;",
      {"not_a_wait"});
  // A list.
  expect("mov.u64 %rd3, %rd1; $L: ld.volatile.global.u64 %rd3, [%rd3]; setp.ne.s64 %p1, %rd3, 0; @%p1 bra $L;",
         {"not_a_wait"});
  // An update by compare and exchange.
  expect(
      "ld.global.u32 %r2, [%rd1]; $L: add.s32 %r3, %r2, 1; atom.global.cas.b32 %r4, [%rd1], %r2, %r3;"
      "setp.ne.s32 %p1, %r4, %r2; mov.u32 %r2, %r4; @%p1 bra $L;",
      {"not_a_wait"});
  // A queue.
  expect("$L: atom.global.add.u32 %r2, [%rd1], 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;", {"not_a_wait"});
}

TEST(RewriterRecognize, AWaitThatCollectsAValueIsUnknown) {
  expect(
      "mov.u32 %r3, 0; $L: ld.volatile.global.u32 %r2, [%rd1]; add.s32 %r3, %r3, %r2; setp.eq.s32 %p1, %r2, 0;"
      "@%p1 bra $L; st.global.u32 [%rd1], %r3;",
      {"unknown"});
  // What the last round read collects nothing.
  expect(
      "$L: ld.global.u32 %r3, [%rd1+8]; ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0;"
      "@%p1 bra $L; st.global.u32 [%rd1], %r3;",
      {"wait any"});
}

// A wait through a handle: an asm statement that clobbers memory makes the compiler load the handle's pointers again.
TEST(RewriterRecognize, AnAddressThatIsLoadedInEachRoundStaysOne) {
  expect("$L: ld.global.u64 %rd3, [%rd1+8]; ld.relaxed.sys.u32 %r2, [%rd3]; setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;",
         {"wait any"});
  expect(
      "$L: ld.global.u64 %rd3, [%rd1]; ld.global.u64 %rd4, [%rd3+16]; ld.acquire.gpu.u32 %r2, [%rd4];"
      "setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;",
      {"wait any"});
  // A list, in which the loop itself goes on.
  expect(
      "mov.u64 %rd3, %rd1; $L: ld.global.u64 %rd3, [%rd3]; ld.relaxed.gpu.u32 %r2, [%rd3+8]; setp.eq.s32 %p1, %r2, 0;"
      "@%p1 bra $L;",
      {"not_a_wait"});
}

TEST(RewriterRecognize, AnAddressThatTheLoopMayWriteVaries) {
  const std::string poll = "ld.relaxed.gpu.u32 %r2, [%rd3]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";
  expect("$L: ld.global.u64 %rd3, [%rd1]; st.global.u64 [%rd1], %rd2; " + poll, {"unknown"});
  expect("$L: ld.global.u64 %rd3, [%rd1]; st.u64 [%rd5], %rd2; " + poll, {"unknown"});
  expect("$L: ld.global.u64 %rd3, [%rd1]; atom.global.add.u64 %rd6, [%rd5], 8; " + poll, {"not_a_wait"});
  expect("$L: ld.global.u64 %rd3, [%rd1]; add.s64 %rd6, %rd3, 4; st.global.u64 [%rd1], %rd6; " + poll, {"not_a_wait"});
  // What is written has another size, or is an element of an array.
  expect("$L: ld.global.u64 %rd3, [%rd1]; st.u32 [%rd5], %r1; " + poll, {"wait_not_patchable"});
  expect("mul.wide.u32 %rd7, %r1, 8; add.s64 %rd6, %rd5, %rd7; $L: ld.global.u64 %rd3, [%rd1]; st.u64 [%rd6], %rd2; " +
             poll,
         {"wait_not_patchable"});
  // What is written is certainly elsewhere: the loop waits, and does more.
  expect("$L: ld.shared.u64 %rd3, [state+96]; st.shared.u32 [state+32], %r1; " + poll, {"wait_not_patchable"});
  expect("$L: ld.shared.u64 %rd3, [state+96]; st.global.u64 [%rd1], %rd2; " + poll, {"wait_not_patchable"});
  expect("$L: ld.shared.u64 %rd3, [state+96]; st.shared.u64 [state+80], %rd2; " + poll, {"unknown"});
}

TEST(RewriterRecognize, ALoopThatWritesTheWordThatItReadsIsUnknown) {
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.lt.s32 %p1, %r2, %r1; @%p1 bra $D; st.volatile.global.u32 [%rd1], "
      "7;"
      "bra.uni $L; $D:",
      {"unknown"});
}

TEST(RewriterRecognize, ASequenceLockIsUnknown) {
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; ld.global.u32 %r5, [%rd1+8]; membar.gl;"
      "ld.volatile.global.u32 %r3, [%rd1]; setp.ne.s32 %p1, %r2, %r3; @%p1 bra $L; st.global.u32 [%rd1], %r5;",
      {"unknown"});
}

TEST(RewriterRecognize, ALoopThatMayPollAndChangeNothingIsUnknown) {
  // A count, or a position, goes on when the word at it is set.
  expect(
      "$L: add.s64 %rd2, %rd1, %rd3; ld.volatile.global.u32 %r2, [%rd2]; setp.ne.s32 %p1, %r2, 1; @%p1 bra $N;"
      "add.s64 %rd3, %rd3, 4; $N: setp.lt.s64 %p2, %rd3, 64; @%p2 bra $L;",
      {"unknown"});
  expect(
      "$L: add.s64 %rd2, %rd1, %rd3; ld.volatile.global.u32 %r2, [%rd2]; setp.eq.s32 %p1, %r2, 1;"
      "add.s64 %rd4, %rd3, 4; selp.b64 %rd3, %rd4, %rd3, %p1; setp.lt.s64 %p2, %rd3, 64; @%p2 bra $L;",
      {"unknown"});
  // One of two bounds moves in each round.
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 1; add.s32 %r4, %r3, 1; sub.s32 %r5, %r6, 1;"
      "selp.b32 %r3, %r4, %r3, %p1; selp.b32 %r6, %r6, %r5, %p1; setp.lt.s32 %p2, %r3, %r6; @%p2 bra $L;",
      {"not_a_wait"});
  // A count that goes on in each round.
  expect(
      "$L: add.s64 %rd2, %rd1, %rd3; ld.volatile.global.u32 %r2, [%rd2]; add.s64 %rd3, %rd3, 4;"
      "setp.lt.s64 %p2, %rd3, 64; @%p2 bra $L;",
      {"not_a_wait"});
}

TEST(RewriterRecognize, LoopsWithOneHeaderAreJudgedApart) {
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r2, 0; @%p1 bra $L;"
      "atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.s32 %p2, %r3, 0; @%p2 bra $L;",
      {"wait any", "wait brief"});
}

TEST(RewriterRecognize, TheBranchThatChoosesAValueDecides) {
  // found = ~0; do { if (the flag is set) found = 1; } while (found == ~0), as nvcc writes it without optimization.
  expect(
      "mov.u32 %r3, -1; $L: mov.u32 %r4, %r3; ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0;"
      "@%p1 bra $E; mov.u32 %r5, 1; bra.uni $J; $E: mov.u32 %r5, %r4; $J: mov.u32 %r3, %r5;"
      "setp.eq.s32 %p2, %r3, -1; @%p2 bra $L;",
      {"wait any"});
}

TEST(RewriterRecognize, WhatIsNeverReachedDoesNotCount) {
  const std::string rest =
      "@%p2 bra $A; st.volatile.global.u32 [%rd1+8], 1;"
      "$A: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";
  expect("mov.u32 %r3, 5; $L: setp.eq.s32 %p2, %r3, 5; " + rest, {"wait any"});
  expect("mov.u32 %r3, 5; $L: setp.eq.s32 %p2, %r3, 6; " + rest, {"wait_not_patchable"});
  expect("mov.u32 %r3, 5; $L: setp.eq.s32 %p2, %r3, %r1; " + rest, {"wait_not_patchable"});
  expect("$L: isspacep.local %p3, %rd1; not.pred %p2, %p3; " + rest, {"wait any"});
  // As nvcc asks whether a number is one of two.
  const std::string one_of = "add.s32 %r4, %r3, -1; setp.lt.u32 %p2, %r4, 2; ";
  expect("mov.u32 %r3, 2; $L: " + one_of + rest, {"wait any"});
  expect("mov.u32 %r3, 3; $L: " + one_of + rest, {"wait_not_patchable"});
  expect("mov.u32 %r3, 0; $L: " + one_of + rest, {"wait_not_patchable"});
}

// A wrapper that keeps the value in its own local memory, as nvcc writes it without optimization, is called twice.
TEST(RewriterRecognize, CallsInsideLoopsAreFollowed) {
  const std::string wrapper = R"(.func (.param .b32 func_retval0) wrapper(.param .b64 wrapper_param_0)
{
.local .align 4 .b8 __local_depot7[8];
.reg .b64 %SP;
.reg .b64 %SPL;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
mov.u64 %SPL, __local_depot7;
cvta.local.u64 %SP, %SPL;
ld.param.u64 %rd1, [wrapper_param_0];
ld.volatile.u32 %r1, [%rd1];
st.u32 [%SP+4], %r1;
ld.u32 %r2, [%SP+4];
st.param.b32 [func_retval0+0], %r2;
ret;
}
)";
  const auto call = [](const std::string& address, const std::string& result) {
    return "{ .param .b64 param0; st.param.b64 [param0+0], " + address +
           "; .param .b32 retval0; call.uni (retval0), wrapper, (param0); ld.param.b32 " + result +
           ", [retval0+0]; }\n";
  };
  const std::string text = kernel("$L: " + call("%rd1", "%r2") + "setp.ne.s32 %p1, %r2, 0; @%p1 bra $D;" +
                                      call("%rd2", "%r3") + "setp.eq.s32 %p2, %r3, 0; @%p2 bra $L; $D:",
                                  wrapper);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module) << module.error().message;
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  ASSERT_EQ(verdicts.size(), 2u);
  ASSERT_EQ(verdicts[1].loops.size(), 1u);
  EXPECT_EQ(name_of(verdicts[1].loops[0].verdict), "wait") << verdicts[1].loops[0].reason;
}

TEST(RewriterRecognize, ScopesHideRegisters) {
  // The inner %p1 is another register than the one that decides.
  expect(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0;"
      "{ .reg .pred %p1; setp.eq.s32 %p1, %r1, 5; } @%p1 bra $L;",
      {"wait any"});
}

/// "register address+offset" of the word of the kernel's only loop; empty: not known.
std::string word_of(const std::string& body) {
  const std::string text = kernel(body);
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  const std::vector<FunctionVerdicts> functions = recognize(*module);
  EXPECT_EQ(functions.at(0).loops.size(), 1u);
  const LoopVerdict& loop = functions.at(0).loops.at(0);
  EXPECT_EQ(loop.verdict, Verdict::wait) << loop.reason;
  if (!loop.word) return {};
  return std::string(loop.word->value) + " " + std::string(loop.word->address) + "+" +
         std::to_string(loop.word->offset);
}

TEST(RewriterRecognize, KnowsTheWord) {
  EXPECT_EQ(word_of("$L: ld.volatile.global.u32 %r2, [%rd1+8]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"), "%r2 %rd1+8");
  // As Triton writes: a value before the load, and braces.
  EXPECT_EQ(word_of("$L: mov.u32 %r2, 0x0; ld.volatile.global.b32 { %r2 }, [ %rd1 + 4 ];"
                    "setp.lt.s32 %p1, %r2, %r1; @%p1 bra $L;"),
            "%r2 %rd1+4");
  // What the register has behind the poll, or where the poll is left out, is not the word.
  EXPECT_EQ(word_of("$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; mov.u32 %r2, 7; @%p1 bra $L;"),
            "");
  EXPECT_EQ(
      word_of("setp.ne.s32 %p2, %r1, 0;"
              "$L: mov.u32 %r2, 0; @%p2 ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"),
      "");
}

TEST(RewriterRecognize, AWordThatEqualsTheCountIsTheCount) {
  // The inner loop waits until the word is the count, the outer one counts, by the register that was read.
  const auto rounds = [](const std::string& compares) {
    return "mov.u32 %r4, 1; $O: mov.u32 %r3, %r4; setp.gt.u32 %p1, %r3, %r1; @%p1 bra $D;"
           "$I: ld.volatile.global.u32 %r2, [%rd1];" +
           compares + "add.s32 %r5, %r2, 1; st.volatile.global.u32 [%rd2], %r5; mov.u32 %r4, %r5; bra $O; $D:";
  };
  expect(rounds("setp.ne.s32 %p2, %r2, %r3; @%p2 bra $I;"), {"wait any", "not_a_wait"});
  expect(rounds("setp.eq.s32 %p2, %r2, %r3; not.pred %p3, %p2; @%p3 bra $I;"), {"wait any", "not_a_wait"});
  // At least the count may be more: the word decides how far the program has come.
  expect(rounds("setp.lt.s32 %p2, %r2, %r3; @%p2 bra $I;"), {"wait any", "wait_not_patchable"});
}

TEST(RewriterRecognize, AThreadReadsBackWhatItHasJustStored) {
  const std::string poll =
      "$L: ld.acquire.gpu.global.u32 %r2, [%rd1]; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2;";
  expect(poll + "ld.global.u32 %r3, [%rd5]; setp.eq.s32 %p1, %r3, 0; @%p1 bra $L;", {"wait_not_patchable"});
  // Another place, and what others may have stored meanwhile.
  expect(poll + "ld.global.u32 %r3, [%rd5+4]; setp.eq.s32 %p1, %r3, 0; @%p1 bra $L;", {"unknown"});
  expect(poll + "bar.sync 0; ld.global.u32 %r3, [%rd5]; setp.eq.s32 %p1, %r3, 0; @%p1 bra $L;", {"unknown"});
}

TEST(RewriterRecognize, ALoopWithTwoEntriesIsUnknown) {
  expect(
      "setp.eq.s32 %p1, %r1, 0; @%p1 bra $B; $A: ld.volatile.global.u32 %r2, [%rd1];"
      "$B: setp.eq.s32 %p2, %r2, 0; @%p2 bra $A;",
      {"unknown"});
}

}  // namespace
}  // namespace wicprof::rewriter
