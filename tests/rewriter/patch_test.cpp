// The patch and its removal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "ptx_texts.h"
#include "rewriter/patch/limit.h"
#include "rewriter/patch/patch.h"

namespace wicprof::rewriter {
namespace {

constexpr const char* kFlag = "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";

// Another way back to the label: a visit beside the poll would be one of both.
constexpr const char* kTwoWaysBack =
    "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L; "
    "add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, %r1; @%p2 bra $L;";

/// More values live across the loop than a call leaves alone.
std::string with_many_values(const std::string& loop) {
  std::string before, after;
  for (int i = 4; i < 20; ++i) {
    const std::string number = std::to_string(i), at = ", [%rd1+" + std::to_string(4 * i) + "]";
    before += "ld.global.u32 %r" + number + at + "; ";
    after += "st.global.u32 [%rd1+" + std::to_string(4 * i + 4) + "], %r" + number + "; ";
  }
  return before + "mov.u32 %r3, %tid.x; " + loop + after + "st.global.u32 [%rd1], %r3;";
}

TEST(RewriterPatch, LooksWithAFunctionWhereAllValuesHaveRegistersBesideIt) {
  const auto patched_of = [](const std::string& text, std::string& patched) {
    const Result<Module> module = read_module(text);
    const std::vector<FunctionVerdicts> verdicts = recognize(*module);
    const Result<Patch> result = patch(*module, verdicts);
    patched = result->text;
    EXPECT_EQ(strip(patched), text);
    EXPECT_FALSE(result->sites.empty());
    return !result->sites.empty() && result->sites[0].calls;
  };
  std::string patched;
  EXPECT_TRUE(patched_of(kernel(kFlag), patched));
  const std::size_t function = patched.find(".func (.param");
  const std::size_t begins = patched.find(".entry");
  ASSERT_NE(function, std::string::npos) << patched;
  EXPECT_LT(function, begins);
  EXPECT_LT(function, patched.find("nanosleep.u32"));
  EXPECT_EQ(patched.find("nanosleep.u32", begins), std::string::npos);
  EXPECT_NE(patched.find("call (__wic_7)", begins), std::string::npos);
  EXPECT_FALSE(patched_of(kernel(with_many_values(kFlag)), patched));
  EXPECT_EQ(patched.find("call"), std::string::npos);
  // What every call through a pointer might reach would count for the program's own calls.
  EXPECT_FALSE(patched_of(kernel(std::string(kFlag) + "$P: .callprototype _ ();"), patched));
}

TEST(RewriterPatch, SitesThatLookAlikeShareAFunction) {
  const auto functions_of = [](const std::string& second) {
    const std::string text = kernel(std::string(kFlag) + second);
    const Result<Module> module = read_module(text);
    const Result<Patch> patched = patch(*module, recognize(*module));
    EXPECT_EQ(patched->sites.size(), 2u);
    int functions = 0;
    for (std::size_t at = 0; (at = patched->text.find(".func (.param", at)) != std::string::npos; ++at) ++functions;
    return functions;
  };
  EXPECT_EQ(functions_of("$M: ld.volatile.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @%p2 bra $M;"), 1);
  EXPECT_EQ(functions_of("$M: ld.volatile.global.u64 %rd3, [%rd1+8]; setp.eq.s64 %p2, %rd3, 0; @%p2 bra $M;"), 2);
}

/// Expects the parts in this order, each behind the one before.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is not behind the others in\n" << text;
    at = found + part.size();
  }
}

TEST(RewriterPatch, StandsBesideThePollAndCanBeTakenOut) {
  const auto patched_of = [](const std::string& text) {
    const Result<Module> module = read_module(text);
    const Result<Patch> patched = patch(*module, recognize(*module));
    EXPECT_EQ(patched->sites.size(), 1u);
    EXPECT_EQ(strip(patched->text), text);
    return patched->text;
  };
  // The program's branch alone decides what comes after the load.
  const std::string plain = patched_of(kernel(kFlag));
  EXPECT_NE(plain.find("$L: ld.volatile.global.u32 %r2, [%rd1];/*__wic_begin*/"), std::string::npos) << plain;
  EXPECT_NE(plain.find("/*__wic_end*/ setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"), std::string::npos) << plain;
  // What acquires waits for its load at once.
  const std::string acquires =
      patched_of(kernel("$L: ld.acquire.sys.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
  expect_in_order(acquires,
                  {"mov.u64 %__wic_c, %globaltimer;\n", "/*__wic_end*/ld.acquire.sys.u32 %r2, [%rd1];/*__wic_begin*/"});
}

// Aligned barriers want all threads of a warp: between two of them, the visit stands where the poll is.
TEST(RewriterPatch, StandsBesideThePollWhereTheBlockMeets) {
  const auto patched_of = [](const std::string& text) {
    const Result<Module> module = read_module(text);
    const std::vector<FunctionVerdicts> verdicts = recognize(*module);
    const Result<Patch> patched = patch(*module, verdicts);
    EXPECT_EQ(patched->sites.size(), 1u) << text;
    if (patched->sites.empty()) return std::string();
    // A thread whose own word is as it wants would watch it for nothing.
    EXPECT_FALSE(patched->sites[0].watches());
    EXPECT_EQ(patched->text.find("ld.volatile.global.u64 %__wic_y, [%__wic_a+"), std::string::npos);
    EXPECT_EQ(strip(patched->text), text);
    return patched->text;
  };
  const std::string vote = "setp.ne.s32 %p1, %r2, 7; bar.red.or.pred %p2, 0, %p1; @%p2 bra $L;";
  const std::string begins = "mov.u32 %r9, %tid.x; setp.ne.s32 %p4, %r9, 0; mov.u32 %r2, 7; $L: ";
  const std::string own_way = patched_of(kernel(begins + "@%p4 bra $S; ld.volatile.u32 %r2, [%rd1]; $S: " + vote));
  EXPECT_NE(own_way.find("ld.volatile.u32 %r2, [%rd1];/*__wic_begin*/"), std::string::npos) << own_way;
  EXPECT_NE(own_way.find("/*__wic_end*/ $S: "), std::string::npos) << own_way;
  const std::string acquires = patched_of(kernel(begins + "@%p4 bra $S; ld.acquire.gpu.u32 %r2, [%rd1]; $S: " + vote));
  EXPECT_NE(
      acquires.find("mov.u64 %__wic_c, %globaltimer;\n/*__wic_end*/ld.acquire.gpu.u32 %r2, [%rd1];/*__wic_begin*/"),
      std::string::npos)
      << acquires;
  // Threads that do not execute the poll do not visit, either.
  const std::string guarded = patched_of(kernel(begins + "@!%p4 ld.acquire.gpu.u32 %r2, [%rd1]; " + vote));
  const std::size_t poll = guarded.find("ld.acquire.gpu.u32 %r2, [%rd1];/*__wic_begin*/");
  ASSERT_NE(poll, std::string::npos) << guarded;
  EXPECT_LT(guarded.find("@%p4 bra $__wic_go_on_0;", poll), guarded.find("add.u32 %__wic_n, %__wic_n, 1;", poll));
  EXPECT_LT(guarded.find("$__wic_go_on_0:", poll), guarded.find("bar.red.or.pred"));
  // Nothing stands between a call and the reads of its result.
  const std::string polls =
      ".func (.param .b32 r) polls(.param .b64 a) { .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a];"
      "ld.volatile.u32 %r1, [%rd1]; st.param.b32 [r], %r1; ret; }\n";
  const std::string called = patched_of(
      kernel(begins +
                 "@%p4 bra $S; { .param .b64 a; st.param.b64 [a], %rd1; .param .b32 r; call.uni (r), polls, (a);"
                 "ld.param.b32 %r2, [r]; } $S: " +
                 vote,
             polls));
  EXPECT_NE(called.find("ld.param.b32 %r2, [r]; }/*__wic_begin*/"), std::string::npos) << called;
}

TEST(RewriterPatch, StandsBeforeTheBackEdgeWhereRoundsOfOthersPassThePoll) {
  const std::string text = kernel(kTwoWaysBack);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched) << patched.error().message;
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_EQ(patched->sites[0].function, "k");
  EXPECT_NE(patched->text.find("@!%p1 bra $__wic_go_on_0;"), std::string::npos);
  EXPECT_NE(patched->text.find("and.pred %__wic_p, %__wic_p, %p1;\n@%__wic_p bra $L;"), std::string::npos);
  EXPECT_NE(patched->text.find("/*__wic_end*/@%p1 bra $L;"), std::string::npos);
  EXPECT_EQ(strip(patched->text), text);
}

// ptxas would read a parameter anew in each round and behind the wait. %rd1 is the kernel's pointer, made of %rd2.
TEST(RewriterPatch, KeepsPointersThatAreParameters) {
  const auto kept = [](const std::string& body) {
    const std::string text = kernel(body);
    const Result<Module> module = read_module(text);
    EXPECT_TRUE(module);
    const Result<Patch> patched = patch(*module, recognize(*module));
    EXPECT_TRUE(patched);
    EXPECT_EQ(strip(patched->text), text);
    std::vector<std::string> found;  // what the text before each kept pointer ends with
    for (std::size_t at = 0; (at = patched->text.find("/*__wic_begin*/\n{\n.reg .b32 %__wic_e;\n.reg .b64 %__wic_x;\n"
                                                      "mov.u32 %__wic_e, %smid;",
                                                      at)) != std::string::npos;
         ++at) {
      found.push_back(patched->text.substr(0, at));
      found.back().erase(0, found.back().find_last_of("\n\t") + 1);
    }
    return found;
  };
  using Kept = std::vector<std::string>;
  const std::string flag = "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";
  EXPECT_EQ(kept(flag), Kept{"%rd1, %rd2;"});
  EXPECT_EQ(kept(flag + "$M: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @%p2 bra $M;").size(), 1u);
  // Read behind the wait; a word whose address is more than a parameter; a pointer that is read before the wait alone.
  const std::string element = "mov.u32 %r4, %tid.x; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n";
  const std::string elements_flag = "$L: ld.volatile.global.u32 %r2, [%rd4]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";
  const std::string other = "\nld.param.u64 %rd5, [k_param_0];";
  EXPECT_EQ(kept(element + other + elements_flag + "st.global.u32 [%rd5], %r2;"),
            Kept{"ld.param.u64 %rd5, [k_param_0];"});
  EXPECT_EQ(kept(element + other + "st.global.u32 [%rd5], %r4;" + elements_flag), Kept{});
  // Not a parameter alone in all cases, or of 32 bits.
  EXPECT_EQ(kept("setp.eq.s32 %p2, %r1, 0; @%p2 add.s64 %rd1, %rd1, 4;" + flag), Kept{});
  EXPECT_EQ(kept(element + elements_flag + "st.global.u32 [%rd4], %r1;"), Kept{});
  // A register for a number that is no integer would make the module one that ptxas refuses.
  EXPECT_EQ(kept(".reg .f64 %fd<3>; ld.param.f64 %fd1, [k_param_0]; " + element + elements_flag +
                 "st.global.f64 [%rd4], %fd1;"),
            Kept{});
  // No more than there is room for across the call.
  const auto with_values = [&](int values) {
    std::string before, after;
    for (int i = 5; i < 5 + values; ++i) {
      const std::string number = std::to_string(i);
      before += "ld.global.u32 %r" + number + ", [%rd4+" + number + "]; ";
      after += "st.global.u32 [%rd4], %r" + number + "; ";
    }
    return kept(element + before + other + elements_flag + after + "st.global.u32 [%rd5], %r2;").size();
  };
  EXPECT_EQ(with_values(4), 1u);
  EXPECT_EQ(with_values(11), 0u);
}

// The exit of such a loop is free; a kernel that calls has too few registers for that.
TEST(RewriterPatch, NotesTheEndInEachRoundWhereTheLookIsInTheLoop) {
  const auto patched_of = [](const std::string& body) {
    const std::string text = kernel(body);
    const Result<Module> module = read_module(text);
    return patch(*module, recognize(*module))->text;
  };
  const std::string all = "st.local.v4.u32 [__wic_state+16], {%__wic_d, %__wic_t, %__wic_n, %__wic_e};";
  const std::string at_exit = "st.local.v2.u32 [__wic_state+24], {%__wic_n, %__wic_e};";
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string in_the_loop = patched_of(with_many_values(kFlag));
  EXPECT_TRUE(has(in_the_loop, "mov.b32 %__wic_e, %r2;\nmov.b64 {%__wic_d, %__wic_t}, %__wic_c;\n@%__wic_b " + all));
  EXPECT_LT(in_the_loop.find("$__wic_go_on_0:"), in_the_loop.find(all));
  EXPECT_FALSE(has(in_the_loop, at_exit));
  const std::string calls = patched_of(kFlag);
  EXPECT_FALSE(has(calls, all));
  EXPECT_TRUE(has(calls, at_exit));
  // The last round of such a loop does not pass the visit.
  const std::string at_back_edge =
      patched_of(with_many_values("$L: @%p3 bra $S; add.s32 %r3, %r3, 1; $S: ld.volatile.global.u32 %r2, [%rd1]; "
                                  "setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
  EXPECT_FALSE(has(at_back_edge, all));
  EXPECT_TRUE(has(at_back_edge, at_exit));
}

TEST(RewriterPatch, EndsAWaitWhereItsLoopIsLeft) {
  const std::string text = kernel(std::string(kFlag) + "add.s32 %r3, %r2, 1;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  const std::size_t back = patched->text.find("@%p1 bra $L;");
  const std::size_t ends =
      patched->text.find("@%__wic_b st.local.v2.u32 [__wic_state+24], {%__wic_n, %__wic_e};", back);
  const std::size_t after = patched->text.find("add.s32 %r3, %r2, 1;");
  ASSERT_NE(ends, std::string::npos) << patched->text;
  EXPECT_LT(back, ends);
  EXPECT_LT(ends, after);
  EXPECT_EQ(strip(patched->text), text);
}

TEST(RewriterPatch, EndsTheWaitsOfTwoLoopsAtOnePlace) {
  const std::string text = kernel(
      "setp.ne.s32 %p3, %r1, 0; @%p3 bra $B;"
      "$A: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $A; bra $D;"
      "$B: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @%p2 bra $B;"
      "$D:");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 2u);
  // The branch behind the first loop is a place of its own, and knows the loop's value.
  EXPECT_NE(patched->text.find("mov.b32 %__wic_e, %r2;"), std::string::npos) << patched->text;
  EXPECT_NE(patched->text.find("mov.b32 %__wic_e, %r3;"), std::string::npos);
  EXPECT_EQ(strip(patched->text), text);
}

TEST(RewriterPatch, RecordsTheLastWaitsEndBehindTheFunctionsLastStatement) {
  const std::string text = kernel(std::string(kFlag) + "@!%p2 ret; add.s32 %r3, %r2, 1;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const Result<Patch> patched = patch(*module, recognize(*module));
  ASSERT_TRUE(patched);
  // Only a thread that leaves goes there, and only if a wait of it is recorded.
  const std::size_t guarded = patched->text.find(
      "setp.ne.and.b32 %__wic_p, %__wic_s, 0, !%p2;\n@%__wic_p bra $__wic_last_0;\n}\n"
      "/*__wic_end*/@!%p2 ret;");
  const std::size_t plain = patched->text.find("setp.ne.b32 %__wic_p, %__wic_s, 0;\n@%__wic_p bra $__wic_last_0;");
  const std::size_t last = patched->text.find("$__wic_last_0:");
  ASSERT_NE(guarded, std::string::npos) << patched->text;
  ASSERT_NE(plain, std::string::npos);
  EXPECT_LT(guarded, plain);
  EXPECT_LT(plain, last);
  EXPECT_NE(patched->text.find("st.param.b32 [__wic_4], 0;", last), std::string::npos);
  EXPECT_EQ(strip(patched->text), text);

  const std::string many = kernel(with_many_values(kFlag));
  const Result<Module> module_of_many = read_module(many);
  const Result<Patch> in_the_loop = patch(*module_of_many, recognize(*module_of_many));
  ASSERT_TRUE(in_the_loop);
  const std::size_t end = in_the_loop->text.find("$__wic_last_0:");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(in_the_loop->text.rfind("atom.global.add.u64"), in_the_loop->text.find("atom.global.add.u64", end));
}

TEST(RewriterPatch, LimitsTheRegistersOfKernelsThatHaveNoLimitOfTheirOwn) {
  const std::string text = kernel(kFlag);
  EXPECT_NE(limit_registers(text, {{"k", 40}})->find(")\n/*__wic_begin*/\n.maxnreg 40\n/*__wic_end*/{"),
            std::string::npos);
  EXPECT_EQ(*limit_registers(text, {{"other", 40}}), text);
  for (const char* own : {".maxnreg 64", ".minnctapersm 2"}) {
    std::string limited = text;
    limited.insert(limited.find("\n{"), std::string("\n") + own);
    EXPECT_EQ(*limit_registers(limited, {{"k", 40}}), limited) << own;
  }
  EXPECT_FALSE(limit_registers(text + "nonsense", {{"k", 40}}));
}

TEST(RewriterPatch, AUniformBranchStaysTheOnlyOneThatGoesBack) {
  const std::string text = kernel(
      "$L: setp.gt.s32 %p3, %r1, 9; @%p3 bra $D; ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; "
      "@%p1 bra.uni $L; $D:");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_EQ(patched->text.find("bra $L;"), std::string::npos) << patched->text;
  EXPECT_NE(patched->text.find("@%p1 bra.uni $L;"), std::string::npos);
}

TEST(RewriterPatch, ReadsNoClockBeforeTheLoop) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  const std::string kernel_text = patched->text.substr(patched->text.find(".entry"));
  const std::size_t loop = kernel_text.find("$L:");
  EXPECT_NE(kernel_text.rfind("mov.b32 %__wic_n, 0;", loop), std::string::npos) << kernel_text;
  EXPECT_LT(loop, kernel_text.find("%globaltimer"));
  EXPECT_NE(kernel_text.find("setp.eq.u32 %__wic_p, %__wic_n, 1;", loop), std::string::npos);
}

TEST(RewriterPatch, RecordsNoWaitWhoseEndItMayMiss) {
  const std::string text = kernel(
      "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p2, %r2, 9; @%p2 ret; setp.eq.s32 %p1, %r2, 0; "
      "@%p1 bra $L;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_FALSE(patched->sites[0].records());
  // No begin is recorded, and of a wait of the sample neither rounds nor time; but it is counted.
  EXPECT_EQ(patched->text.find("setp.ge.s32 %__wic_p, %__wic_r, 0;"), std::string::npos);
  EXPECT_EQ(patched->text.find("st.local.u64 [__wic_state+16]"), std::string::npos);
  EXPECT_NE(patched->text.find("red.global.add.u64 [%__wic_a+8], 1;"), std::string::npos);
}

std::string patch_of(const std::string& text, bool counts = true) {
  const Result<Module> module = read_module(text);
  const Result<Patch> patched = patch(*module, recognize(*module), counts);
  EXPECT_EQ(strip(patched->text), text);
  return patched->text;
}

TEST(RewriterPatch, AWaitBesideAPollIsOneOfTheSampleWhenItGoesRound) {
  for (const std::string& body : {std::string(kFlag), with_many_values(kFlag)}) {
    const std::string patched = patch_of(kernel(body));
    // In its first round the window decides when the wait is due, without a branch.
    expect_in_order(patched.substr(patched.find("$L:")),
                    {"shr.u32 %__wic_e, %__wic_t, 10;\nmul.lo.u32 %__wic_e, %__wic_e, %__wic_e;\n",
                     "setp.lt.and.u32 %__wic_q, %__wic_e, " + std::to_string(kTimedBelow) + ", %__wic_p;\n",
                     "setp.lt.and.s32 %__wic_p, %__wic_d, 0, !%__wic_q;\n@%__wic_p bra $__wic_go_on_0;",
                     "@%__wic_p sub.u32 %__wic_l, %__wic_t, 1073741824;",
                     // The look writes the end of an earlier wait first. In the second round one lane counts.
                     "setp.lt.s32 %__wic_p, %__wic_d, 1073741824;\n@%__wic_p bra $__wic_longer_0;",
                     "or.b32 %__wic_e, %__wic_e, %__wic_s;\nsetp.ne.b32 %__wic_p, %__wic_e, 0;\n"
                     "@%__wic_p bra $__wic_longer_0;",
                     "setp.eq.u32 %__wic_p, %__wic_n, 1;\n@%__wic_p bra $__wic_go_on_0;",
                     "add.u32 %__wic_l, %__wic_l, 1073761824;\nactivemask.b32", "@%__wic_p bra $__wic_go_on_0;",
                     "setp.ge.u32 %__wic_p, %__wic_g, 16777216;\n@%__wic_p bra $__wic_timed_0;",
                     "red.global.add.u64 [%__wic_a+8], 1;\nbra $__wic_go_on_0;",
                     // Or it notes the begin.
                     "$__wic_timed_0:\nsub.u32 %__wic_d, %__wic_d, 1073741824;",
                     "sub.u64 %__wic_x, %__wic_c, %__wic_x;\nst.local.u64", "mov.b32 %__wic_s, 2147",
                     "or.b32 %__wic_n, %__wic_n, 536870912;", "bra $__wic_go_on_0;\n$__wic_longer_0:"});
  }
}

TEST(RewriterPatch, AWaitThatWasCountedAndLastsIsTakenAwayAtItsFirstLook) {
  for (const std::string& body : {std::string(kFlag), with_many_values(kFlag)}) {
    expect_in_order(patch_of(kernel(body)),
                    {"red.global.add.u64 [%__wic_a+0], 1;", "sub.u32 %__wic_g, %__wic_l, 20000;\nshr.u32",
                     "setp.lt.u32 %__wic_p, %__wic_g, 16777216;", "@%__wic_p red.global.add.u64 [%__wic_a+8], -1;"});
  }
}

TEST(RewriterPatch, TheWindowsOfTheSampleHaveTheirShareAndNoPeriod) {
  constexpr std::uint32_t kWindows = 1u << (32 - kSampleWindowLog2);
  std::vector<std::uint32_t> sampled, of_slots(kCountSlots);
  std::uint32_t timed = 0;
  for (std::uint32_t window = 0; window < kWindows; ++window) {
    const std::uint32_t number = window * window * kSampleMultiplier;
    if (number >= kCountedBelow && number < kTimedBelow) ++timed;
    if (number >= kCountedBelow) continue;
    sampled.push_back(window);
    ++of_slots[number >> kSampleSlotShift & (kCountSlots - 1)];
  }
  const auto all = static_cast<double>(sampled.size());
  EXPECT_NEAR(all * kSampleOneIn / kWindows, 1, 0.001);
  EXPECT_NEAR(timed / all, 0.125, 0.01);
  for (const std::uint32_t each : of_slots) EXPECT_NEAR(each, all / kCountSlots, 4 * std::sqrt(all / kCountSlots));
  // Waits that come once per so many windows: as many meet each phase of their period.
  for (double period = 1.5; period < 100; period += 0.05 * std::max(1.0, period / 25)) {
    std::complex<double> sum;
    for (const std::uint32_t window : sampled) sum += std::polar(1.0, 2 * std::numbers::pi * window / period);
    EXPECT_LT(std::abs(sum) / std::sqrt(all), 4) << period;
  }
}

TEST(RewriterPatch, AWaitAtABackEdgeIsOneOfTheSampleAtOnce) {
  const std::string patched = patch_of(kernel(kTwoWaysBack));
  expect_in_order(patched, {"setp.lt.s32 %__wic_p, %__wic_d, 1073741824;\n@%__wic_p bra $__wic_longer_0;",
                            "@%__wic_p bra $__wic_longer_0;\nadd.u32 %__wic_g, %__wic_l, 1073741824;",
                            "red.global.add.u64 [%__wic_a+8], 1;", "$__wic_longer_0:"});
}

TEST(RewriterPatch, CountsNothingIfAskedTo) {
  const std::string patched = patch_of(kernel(kFlag), false);
  EXPECT_EQ(patched.find("red.global"), std::string::npos);
  EXPECT_NE(patched.find("@%__wic_p add.u32 %__wic_l, %__wic_t, 20000;"), std::string::npos);
}

TEST(RewriterPatch, AddsWaitsOfTheSampleToTheSiteThatTheyWereAt) {
  // Three sites; the second waits at the place where the first one's way out leads.
  const std::string text = kernel(
      "setp.ne.s32 %p3, %r1, 0; @%p3 bra $B;"
      "$A: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @!%p1 bra $D; bra $A;"
      "$B: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @!%p2 bra $D; bra $B;"
      "$D: add.s32 %r3, %r3, 1; $E: ld.volatile.global.u32 %r3, [%rd1+8]; setp.eq.s32 %p2, %r3, 0; @%p2 bra $E;");
  const Result<Module> module = read_module(text);
  const Result<Patch> patched = patch(*module, recognize(*module));
  ASSERT_EQ(patched->sites.size(), 3u);
  const Table table{patched->table, 3};
  for (const Site& site : patched->sites) {
    EXPECT_EQ(site.code(), site.number | (site.in_function + 1) << 16);
    EXPECT_NE(patched->text.find("st.param.b32 [__wic_4], " + std::to_string(site.code()) + ";"), std::string::npos);
  }
  // Behind the counts of the last site the table ends.
  EXPECT_EQ(table.bytes(), table.counts(2) + kCountSlots * sizeof(SiteCounts));
  EXPECT_NE(patched->text.find(patched->table + "[" + std::to_string(table.bytes()) + "];"), std::string::npos);
  // The sum goes to the site in %__wic_s, whichever site the thread waits at by then.
  EXPECT_NE(patched->text.find("and.b32 %__wic_h, %__wic_s, 0xffff;\nmov.u64 %__wic_a, " + patched->table + "+" +
                               std::to_string(table.counts(0)) + ";"),
            std::string::npos);
  // The way out of two loops knows which one ends, whether its wait is recorded or timed.
  EXPECT_NE(patched->text.find("shl.b32 %__wic_e, %__wic_s, 1;\nsetp.eq.and.u32 %__wic_p, %__wic_e, " +
                               std::to_string(patched->sites[1].code() << 1) + ", %__wic_b;"),
            std::string::npos)
      << patched->text;
}

TEST(RewriterPatch, LeavesTheRecordsToOneLaneOfAWarp) {
  const auto patched_of = [](const std::string& body) {
    const std::string text = kernel(body);
    const Result<Module> module = read_module(text);
    return patch(*module, recognize(*module))->text;
  };
  for (const std::string& recorded : {patched_of(kFlag), patched_of(with_many_values(kFlag))}) {
    // Each look chooses anew, before any branch parts the lanes.
    const std::size_t chosen = recorded.find("activemask.b32 %__wic_g;\nmov.u32 %__wic_h, %lanemask_lt;");
    ASSERT_NE(chosen, std::string::npos) << recorded;
    EXPECT_LT(chosen, recorded.find("bra $__wic_again_0;"));
    EXPECT_NE(recorded.find("bra $__wic_record_0;", chosen), std::string::npos);
    // So that they look together again: their next look follows the time when this one was due.
    EXPECT_GT(recorded.find("add.u32 %__wic_l, %__wic_l, 250000;"), recorded.find("$__wic_looked_0:"));
  }
}

TEST(RewriterPatch, WatchesAWordThatTheBackEdgeCanRead) {
  const auto watches = [](const std::string& body) {
    const std::string text = kernel(body);
    const Result<Module> module = read_module(text);
    const std::vector<FunctionVerdicts> verdicts = recognize(*module);
    const Result<Patch> patched = patch(*module, verdicts);
    EXPECT_EQ(patched->sites.size(), 1u) << body;
    return patched->text.find("$__wic_watch_0:") != std::string::npos;
  };
  EXPECT_TRUE(watches(kFlag));
  EXPECT_TRUE(watches("$L: ld.acquire.sys.u64 %rd3, [%rd1+8]; setp.eq.s64 %p1, %rd3, 0; @%p1 bra $L;"));
  EXPECT_TRUE(watches("$L: atom.global.or.b32 %r2, [%rd1], 0; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
  // A part of a word, and words in turn.
  EXPECT_FALSE(watches("$L: ld.volatile.global.u8 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
  EXPECT_FALSE(
      watches("$L: ld.volatile.global.u32 %r2, [%rd1]; ld.volatile.global.u32 %r3, [%rd1+4]; or.b32 %r2, %r2, %r3;"
              "setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
  // Another lane may have to write first.
  EXPECT_FALSE(watches("$L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra $L;"));
  // The register means another one at the back edge.
  EXPECT_FALSE(
      watches("$L: { .reg .b64 %w; mov.b64 %w, %rd1; ld.volatile.global.u32 %r2, [%w]; }"
              "setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;"));
}

TEST(RewriterPatch, ReadsTheHostsWordWithOneThreadPerDeviceOnly) {
  const std::string text = kernel(with_many_values(kFlag));
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  // The words of site 0 stand behind the 64 bytes of ModuleWords.
  const std::size_t own =
      patched->text.find("ld.volatile.global.v2.u32 {%__wic_r, %__wic_e}, [" + patched->table + "+64]");
  const std::size_t lease = patched->text.find("atom.global.cas.b32 %__wic_g, [" + patched->table + "+68]");
  const std::size_t lost = patched->text.find("bra $__wic_known_0;", lease);
  const std::size_t hosts = patched->text.find("ld.volatile.global.u32 %__wic_r, [%__wic_a+0]");
  ASSERT_NE(own, std::string::npos) << patched->text;
  ASSERT_NE(hosts, std::string::npos);
  EXPECT_LT(own, lease);
  EXPECT_LT(lease, lost);
  EXPECT_LT(lost, hosts);
}

TEST(RewriterPatch, FillsInAllPlacesOfTheText) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  const std::size_t first = patched->text.find("/*__wic_begin*/", patched->text.find("cvta.to.global"));
  EXPECT_EQ(patched->text.find('<', first), std::string::npos) << patched->text.substr(first);
  const std::string functions = patched->text.substr(0, patched->text.find(".entry"));
  EXPECT_EQ(functions.find('<'), std::string::npos) << functions;
}

TEST(RewriterPatch, LeavesAModuleWithoutWaitsAsItIs) {
  const std::string text = kernel("add.s32 %r2, %r1, 1;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  EXPECT_EQ(patched->text, text);
}

TEST(RewriterPatch, StandsBesideThePollWhereTheCodeFallsThrough) {
  const std::string text = kernel(
      "bra.uni $H; $T: setp.eq.s32 %p2, %r2, %r1; @%p2 bra $D;"
      "$H: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $T; $D:");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_EQ(strip(patched->text), text);
  // The code above the label is the loop's: no thread arrives there.
  EXPECT_NE(patched->text.find("@%p2 bra $D;$H: ld.volatile.global.u32 %r2, [%rd1];/*__wic_begin*/"), std::string::npos)
      << patched->text;
}

TEST(RewriterPatch, StandsBehindTheLastStatementWhereOthersPassThePoll) {
  const std::string text = kernel(
      "bra.uni $H; $T: setp.eq.s32 %p2, %r2, %r1; @%p2 bra $D;"
      "$H: setp.gt.s32 %p3, %r1, 9; @%p3 bra $D; ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; "
      "@%p1 bra $T; $D:");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_NE(patched->text.find("@%p2 bra $D;/*__wic_begin*/"), std::string::npos) << patched->text;
  EXPECT_EQ(strip(patched->text), text);
}

TEST(RewriterPatch, RefusesAPatchedModuleAndAnOldTarget) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> once = patch(*module, verdicts);
  ASSERT_TRUE(once);
  const Result<Module> again = read_module(once->text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(patch(*again, recognize(*again)));

  std::string old = text;
  old.replace(old.find("sm_90"), 5, "sm_60");
  const Result<Module> early = read_module(old);
  ASSERT_TRUE(early);
  EXPECT_FALSE(patch(*early, recognize(*early)));
}

}  // namespace
}  // namespace wicprof::rewriter
