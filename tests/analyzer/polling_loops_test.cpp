// Polling loops found in samples and instructions, and the rule's findings on them.
#include "analyzer/machine_code/polling_loops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/analysis.h"
#include "sampled_program.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

std::vector<PollingLoop> loops_of(const TraceModel& model) { return find_polling_loops(model, gather_stalls(model)); }

std::vector<PollingLoop> loops_in(std::string_view body, const std::vector<Sampled>& samples) {
  TraceModel model = empty_program();
  add_samples(model, "k", samples, body);
  settle(model);
  return loops_of(model);
}

const Finding* find(const Analysis& analysis, std::string_view rule) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& f) { return f.rule == rule; });
  return found == analysis.findings.end() ? nullptr : &*found;
}

TEST(Stalls, AreSummedByFunctionReasonAndLine) {
  TraceModel model = polling_program();
  model.pc_totals[0].file = "poll.cu";
  model.pc_totals[0].line = 7;
  const Stalls stalls = gather_stalls(model);
  ASSERT_EQ(stalls.functions.size(), 2u);
  const FunctionStalls& poll = stalls.functions[0];
  EXPECT_EQ(poll.function, "poll");
  EXPECT_EQ(poll.samples, 3'005u) << "samples also counted as not issued count once";
  EXPECT_EQ(poll.reasons.front().reason, "barrier");
  EXPECT_EQ(poll.reasons.front().samples, 2'000u);
  ASSERT_EQ(poll.lines.size(), 1u);
  EXPECT_EQ(poll.lines[0].samples, 10u);
  ASSERT_EQ(stalls.devices.size(), 1u);
  EXPECT_EQ(stalls.devices[0].samples, 4'000u);
  EXPECT_NEAR(poll.share, 3'005.0 / 4'000, 1e-9);
}

TEST(Stalls, AReasonMayHaveNotIssuedSamplesOnly) {
  TraceModel model = empty_program();
  add_samples(model, "k", {{0, "membar_not_issued", 40}});
  const Stalls stalls = gather_stalls(model);
  ASSERT_EQ(stalls.functions.size(), 1u);
  EXPECT_EQ(stalls.functions[0].samples, 40u);
  EXPECT_EQ(stalls.functions[0].reasons[0].reason, "membar");
}

TEST(Stalls, OtherProgramsCountForTheDevice) {
  TraceModel model = empty_program();
  add_samples(model, "k", {{0, "selected", 50}});
  store::PcIntervalRow interval{};
  interval.device = 0;
  interval.samples = 160;
  interval.dropped = 10;
  interval.foreign_samples = 150;
  model.pc_intervals.push_back(interval);
  const Stalls stalls = gather_stalls(model);
  EXPECT_EQ(stalls.devices[0].samples, 200u);
  EXPECT_EQ(stalls.devices[0].dropped, 10u);
  EXPECT_DOUBLE_EQ(stalls.functions[0].share, 0.25);
}

TEST(Stalls, SumOverProcesses) {
  TraceModel model = empty_program();
  add_samples(model, "k", {{0, "selected", 50}, {0, "selected", 70}});
  model.pc_totals[0].process = 100;
  model.pc_totals[1].process = 200;
  EXPECT_EQ(gather_stalls(model).functions.at(0).samples, 120u);
}

TEST(PollingLoops, FindsTheLoopItsLineAndItsShare) {
  const std::vector<PollingLoop> loops = loops_of(polling_program());
  ASSERT_EQ(loops.size(), 1u);
  const PollingLoop& loop = loops[0];
  EXPECT_EQ(loop.function, "poll");
  EXPECT_EQ(loop.kind, LoopKind::poll);
  EXPECT_TRUE(loop.from_instructions);
  EXPECT_GE(loop.confidence, 0.8);
  EXPECT_EQ(loop.begin, 0x70u);
  EXPECT_EQ(loop.end, 0xa0u);
  EXPECT_EQ(loop.samples, 1'000u);
  EXPECT_NEAR(loop.share, 0.25, 1e-9);
  EXPECT_EQ(loop.behind, 2'000u);
  EXPECT_NEAR(loop.behind_share, 0.5, 1e-9);
  EXPECT_EQ(place_of(loop), "poll.cu:7");
  EXPECT_EQ(loop.code.size(), 4u);
  EXPECT_EQ(loop.code_lines.size(), loop.code.size());
  EXPECT_EQ(loop.code[0], "0070  LDG.E.STRONG.SYS R0, desc[UR4][R4.64]");
  EXPECT_EQ(loop.beside, std::vector<std::string>{"stream"});
  EXPECT_FALSE(loop.evidence.empty());
}

TEST(PollingLoops, KindsOfWaiting) {
  const std::vector<Sampled> everywhere = {{0x20, "sleeping", 100},        {0x30, "long_scoreboard", 300},
                                           {0x60, "long_scoreboard", 300}, {0x70, "long_scoreboard", 300},
                                           {0x90, "long_scoreboard", 300}, {0xa0, "long_scoreboard", 400},
                                           {0xb0, "long_scoreboard", 400}, {0xd0, "long_scoreboard", 300}};
  ASSERT_EQ(loops_in(listings::kSleepingPoll, everywhere).size(), 1u);
  EXPECT_TRUE(loops_in(listings::kSleepingPoll, everywhere)[0].sleeps);
  ASSERT_EQ(loops_in(listings::kDeadlinePoll, everywhere).size(), 1u);
  EXPECT_TRUE(loops_in(listings::kDeadlinePoll, everywhere)[0].deadline);
  ASSERT_EQ(loops_in(listings::kAtomicPoll, everywhere).size(), 1u);
  EXPECT_EQ(loops_in(listings::kAtomicPoll, everywhere)[0].kind, LoopKind::atomic_poll);
  ASSERT_EQ(loops_in(listings::kLock, everywhere).size(), 1u) << "the inner poll is part of the lock";
  EXPECT_EQ(loops_in(listings::kLock, everywhere)[0].kind, LoopKind::lock);
  ASSERT_EQ(loops_in(listings::kGridBarrier, everywhere).size(), 1u);
  EXPECT_EQ(loops_in(listings::kGridBarrier, everywhere)[0].kind, LoopKind::grid_barrier);
  ASSERT_EQ(loops_in(listings::kFencedPoll, everywhere).size(), 1u);
  EXPECT_LT(loops_in(listings::kFencedPoll, everywhere)[0].confidence,
            loops_in(listings::kSleepingPoll, everywhere)[0].confidence);
}

TEST(PollingLoops, ABarrierAfterAnEndIsNotTheLoops) {
  const std::vector<PollingLoop> loops = loops_in(R"(
.L_x_0:
        /*0000*/                   LDG.E.STRONG.SYS R0, desc[UR4][R4.64] ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/              @!P0 BRA `(.L_x_0) ;
        /*0030*/                   EXIT ;
.L_x_1:
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   EXIT ;
)",
                                                  {{0x10, "long_scoreboard", 500}, {0x40, "barrier", 500}});
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].behind, 0u);
}

// The slow part of the first loop is after the second loop; neither contains the other.
TEST(PollingLoops, InterleavedLoopsAreTwoLoops) {
  const std::vector<PollingLoop> loops = loops_in(R"(
.L_x_0:
        /*0000*/                   LDG.E.STRONG.SYS R0, desc[UR4][R2.64] ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
.L_x_1:
        /*0030*/                   LDG.E.STRONG.SYS R6, desc[UR4][R4.64] ;
        /*0040*/                   ISETP.NE.AND P0, PT, R6, RZ, PT ;
        /*0050*/              @!P0 BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_2:
        /*0070*/                   YIELD ;
        /*0080*/                   BRA `(.L_x_0) ;
)",
                                                  {{0x10, "long_scoreboard", 500}, {0x40, "long_scoreboard", 400}});
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].begin, 0u);
  EXPECT_EQ(loops[1].begin, 0x30u);
}

TEST(PollingLoops, PreferTheListingsLineToCuptis) {
  TraceModel model = polling_program();
  for (store::PcTotalRow& row : model.pc_totals) {
    row.file = "cuda_ptx_generated.h";
    row.line = 470;
  }
  const std::vector<PollingLoop> loops = loops_of(model);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(place_of(loops[0]), "poll.cu:7");
  for (store::SassRow& row : model.sass) row.line = 0;
  EXPECT_EQ(place_of(loops_of(model).at(0)), "cuda_ptx_generated.h:470") << "CUPTI's line is better than none";
}

TEST(PollingLoops, AreThePatchedLoopsOfTheirLine) {
  TraceModel model = polling_program();  // poll.cu:7
  const auto add_site = [&](SiteId id, const std::string& name) {
    store::SiteRow& site = model.sites.emplace_back();
    site.id = id;
    site.name = name;
  };
  add_site(40, "poll:8");
  add_site(41, "other:7");
  add_site(42, "poll:7");
  EXPECT_TRUE(loops_of(model).at(0).sites.empty()) << "the program's own sites have such names as well";
  model.meta["rewrite"] = "1";
  EXPECT_EQ(loops_of(model).at(0).sites, std::vector<SiteId>{42});
  const std::vector<Finding> findings = analyze(model).findings;
  const auto found = std::ranges::find(findings, "polling_kernel", &Finding::rule);
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->site, 42u);
  EXPECT_NE(found->text.find("; it is the wait site poll:7"), std::string::npos) << found->text;
  add_site(43, "poll:7#2");  // a copy of the loop, as templates and unrolling make them
  EXPECT_EQ(loops_of(model).at(0).sites, (std::vector<SiteId>{42, 43}));
  // Without source lines, the only loop of its kernel.
  for (store::SassRow& row : model.sass) row.line = 0;
  model.sites.back().name = "poll:site3";
  EXPECT_EQ(loops_of(model).at(0).sites, std::vector<SiteId>{43});
  add_site(44, "poll:site4");
  EXPECT_TRUE(loops_of(model).at(0).sites.empty());
}

TEST(PollingLoops, ExcludeSimilarLoops) {
  const std::vector<Sampled> memory = {{0x20, "long_scoreboard", 500}, {0x30, "long_scoreboard", 500},
                                       {0x50, "long_scoreboard", 500}, {0x60, "branch_resolve", 200},
                                       {0x70, "long_scoreboard", 500}, {0x10, "long_scoreboard", 500}};
  for (const std::string_view body : {listings::kStreaming, listings::kStrongSum, listings::kSearch,
                                      listings::kPointerChase, listings::kAtomicUpdate}) {
    EXPECT_TRUE(loops_in(body, memory).empty()) << body;
  }
}

TEST(MbarrierWaits, AreTheLoopWithItsFirstTryAndDoNotPoll) {
  TraceModel model = empty_program();
  model.sites.clear();
  // Of the kernel's samples, 50 are in the producer's wait, 240 in the consumer's: before, in and behind their loops.
  add_samples(model, "gemm",
              {{0x30, "selected", 10},
               {0x40, "long_scoreboard", 40},
               {0x80, "long_scoreboard", 30},
               {0x90, "long_scoreboard", 170},
               {0xd0, "sleeping", 10},
               {0x100, "long_scoreboard", 30},
               {0xa0, "gmma", 710}},
              listings::kPipeline);
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_TRUE(analysis.polling_loops.empty());
  EXPECT_EQ(find(analysis, "polling_kernel"), nullptr);
  ASSERT_EQ(analysis.mbarrier_waits.size(), 2u);
  const PollingLoop &consumer = analysis.mbarrier_waits[0], &producer = analysis.mbarrier_waits[1];
  EXPECT_EQ(consumer.role, PipelineRole::consumer);
  EXPECT_EQ(consumer.samples, 230u);
  EXPECT_NEAR(consumer.function_share, 0.23, 1e-9);
  EXPECT_EQ(producer.role, PipelineRole::producer);
  EXPECT_EQ(producer.samples, 60u);
  EXPECT_EQ(producer.waited_for, WaitedFor::mbarrier);
  ASSERT_FALSE(producer.evidence.empty());
  EXPECT_EQ(producer.evidence.back(),
            "UTMALDG.2D follows before any other wait at an mbarrier: the waiting warps produce");
}

TEST(PollingLoops, ExcludeLoopsWithFewSamples) {
  EXPECT_TRUE(loops_in(listings::kVolatilePoll, {{0x90, "long_scoreboard", 2}}).empty()) << "too few samples";
  EXPECT_TRUE(loops_in(listings::kVolatilePoll, {{0x90, "long_scoreboard", 90}, {0xe0, "selected", 100'000}}).empty());
}

TEST(PollingLoops, LoopsWithFewSamplesAreNoWarning) {
  for (const std::uint64_t samples : {10, 1'000}) {
    TraceModel model = empty_program();
    add_samples(model, "k", {{0x90, "long_scoreboard", samples}}, listings::kVolatilePoll);
    settle(model);
    const std::vector<Finding> findings = analyze(model).findings;
    const auto found =
        std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "polling_kernel"; });
    ASSERT_NE(found, findings.end());
    EXPECT_EQ(found->severity, samples == 10 ? Severity::info : Severity::critical);
  }
}

// One thread in 1,024 polls, in a program with other kernels: the loop has 0.3 % of the samples, the barrier 10 %.
TEST(PollingLoops, WarpsAtTheBarrierCountWhenItIsJudgedWhatMatters) {
  TraceModel model = empty_program();
  add_samples(model, "k", {{0x90, "long_scoreboard", 30}, {0xc0, "barrier", 970}, {0xe0, "selected", 1'500}},
              listings::kVolatilePoll);
  add_samples(model, "other", {{0x10, "math_pipe_throttle", 7'500}});
  settle(model);
  const std::vector<PollingLoop> loops = loops_of(model);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].samples, 30u);
  EXPECT_EQ(loops[0].behind, 970u);
}

// A loop around a wait, unrolled: each copy alone has too few samples.
TEST(PollingLoops, CopiesOfAWaitCountTogether) {
  std::string body;
  std::vector<Sampled> samples;
  for (int copy = 0; copy < 8; ++copy) {
    const int at = copy * 0x40;
    body += fmt::format(
        ".L_x_{0}:\n        /*{1:04x}*/ LDG.E.STRONG.SYS R0, desc[UR4][R2.64+{5:#x}] ;\n"
        "        /*{2:04x}*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;\n        /*{3:04x}*/ @!P0 BRA `(.L_x_{0}) ;\n"
        "        /*{4:04x}*/ NOP ;\n",
        copy, at, at + 0x10, at + 0x20, at + 0x30, copy * 128);
    samples.push_back({static_cast<std::uint64_t>(at + 0x10), "long_scoreboard", 60});
  }
  body += "        /*0200*/ EXIT ;\n";
  TraceModel model = empty_program();
  samples.push_back({0x200, "selected", 2'000});
  add_samples(model, "k", samples, body);
  add_samples(model, "other", {{0x10, "math_pipe_throttle", 10'000}});
  settle(model);
  const std::vector<PollingLoop> loops = loops_of(model);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].copies, 8u);
  EXPECT_EQ(loops[0].samples, 480u);
}

// A function waits; its caller has the barrier.
TEST(PollingLoops, FindTheBarrierBehindACall) {
  const std::string_view body = R"(
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/               @P0 BRA `(.L_x_1) ;
        /*0030*/                   MOV R20, 0x50 ;
        /*0040*/                   CALL.REL.NOINC `($k$wait) ;
.L_x_1:
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/                   EXIT ;
$k$wait:
        /*0070*/                   LDG.E.STRONG.SYS R6, desc[UR4][R4.64] ;
        /*0080*/                   ISETP.NE.AND P0, PT, R6, RZ, PT ;
        /*0090*/              @!P0 BRA `($k$wait) ;
        /*00a0*/                   RET.REL.NODEC R20 `(k) ;
)";
  const std::vector<PollingLoop> loops =
      loops_in(body, {{0x80, "long_scoreboard", 40}, {0x50, "barrier", 900}, {0x60, "barrier", 60}});
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].begin, 0x70u);
  EXPECT_EQ(loops[0].behind, 960u);
}

TEST(PollingLoops, HaveLessConfidenceWithoutInstructions) {
  TraceModel model = polling_program();
  model.sass.clear();
  // Without samples at the barrier, as in a kernel whose threads all poll: they would hide the loop.
  std::erase_if(model.pc_totals, [](const auto& row) { return row.reason == "barrier"; });
  const std::vector<PollingLoop> loops = loops_of(model);
  ASSERT_FALSE(loops.empty());
  const auto poll = std::find_if(loops.begin(), loops.end(), [](const auto& l) { return l.function == "poll"; });
  ASSERT_NE(poll, loops.end());
  EXPECT_FALSE(poll->from_instructions);
  EXPECT_TRUE(poll->code.empty());
  EXPECT_LE(poll->confidence, 0.5);
  EXPECT_NE(poll->evidence.at(0).find("samples alone"), std::string::npos);
  // A streaming loop may be listed too, but with less confidence.
  for (const PollingLoop& loop : loops) {
    if (loop.function == "stream") {
      EXPECT_LT(loop.confidence, poll->confidence);
    }
  }
}

TEST(PollingLoops, WithoutInstructionsExcludeLoopsThatWaitForStores) {
  const std::vector<Sampled> poll = {{0x10, "long_scoreboard", 800}, {0x20, "wait", 20}};
  ASSERT_EQ(loops_in({}, poll).size(), 1u);
  std::vector<Sampled> fill = poll;
  fill.push_back({0x30, "drain", 130});
  EXPECT_TRUE(loops_in({}, fill).empty());
}

TEST(PollingLoops, ListingsShowTheTargetsOfBranches) {
  const std::vector<PollingLoop> loops = loops_of(polling_program());
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].code.at(3), "00a0  @!P0 BRA 0x0070");
}

TEST(PollingLoops, WithoutInstructionsExcludeComputation) {
  std::vector<Sampled> samples;
  for (std::uint64_t i = 0; i < 8; ++i)
    samples.push_back({i * 16, i % 2 == 0 ? "math_pipe_throttle" : "selected", 500});
  EXPECT_TRUE(loops_in({}, samples).empty());
}

TEST(PollingLoops, WithoutInstructionsExcludeScatteredSamples) {
  std::vector<Sampled> samples;
  for (std::uint64_t i = 0; i < 100; ++i) samples.push_back({i * 64, "long_scoreboard", 50});
  EXPECT_TRUE(loops_in({}, samples).empty());
}

TEST(PollingKernel, NamesKernelLineShareAndSlowedKernels) {
  const Analysis analysis = analyze(polling_program());
  const Finding* finding = find(analysis, "polling_kernel");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  for (const char* words : {"poll", "poll.cu:7", "75"}) {
    EXPECT_NE(finding->text.find(words), std::string::npos) << words << " in " << finding->text;
  }
  EXPECT_NE(finding->text.find("stream"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("wait_until"), std::string::npos);
}

TEST(PollingKernel, ASleepingWaitIsLessSevere) {
  TraceModel model = empty_program();
  add_samples(model, "k", {{0x20, "sleeping", 900}, {0x70, "long_scoreboard", 100}}, listings::kSleepingPoll);
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "polling_kernel"), nullptr);
  EXPECT_EQ(find(analysis, "polling_kernel")->severity, Severity::info);
}

TEST(PollingKernel, AFindingFromSamplesAloneSaysSo) {
  TraceModel model = polling_program();
  model.sass.clear();
  model.meta["sass_missing"] = "nvdisasm was not found; install it";
  std::erase_if(model.pc_totals, [](const auto& row) { return row.reason == "barrier"; });
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "polling_kernel");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("seems to poll"), std::string::npos) << finding->text;
  EXPECT_NE(finding->severity, Severity::critical);
  EXPECT_NE(finding->evidence.find("nvdisasm was not found"), std::string::npos) << finding->evidence;
}

TEST(PollingKernel, RecognizesOurCodeByTheWholeFolderName) {
  TraceModel model = polling_program();
  store::SiteRow site{};
  site.name = "s";
  model.sites.push_back(site);
  const auto remedy_in = [&](const std::string& file) {
    for (store::SassRow& row : model.sass) row.file = file;
    const Analysis analysis = analyze(model);
    const Finding* finding = find(analysis, "polling_kernel");
    return finding == nullptr ? "" : finding->remedy;
  };
  EXPECT_EQ(remedy_in("/usr/include/wic/wait.h"), "wic-prof run --ab -- synthetic --iterations 50");
  EXPECT_FALSE(remedy_in("/home/ludwic/poll.cu").starts_with("wic-prof "));
  const Analysis analysis = analyze(model);
  EXPECT_EQ(find(analysis, "polling_kernel")->command, "wic-prof run --rewrite --ab -- synthetic --iterations 50");
  model.complete = false;
  EXPECT_EQ(remedy_in("/usr/include/wic/wait.h"), "wic-prof toggle park");
}

TEST(PollingKernel, RefusesWithoutSamples) {
  TraceModel model = empty_program();
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_TRUE(std::any_of(analysis.refusals.begin(), analysis.refusals.end(), [](const Refusal& r) {
    return r.rule == "polling_kernel" && r.reason.find("pcsampling") != std::string::npos;
  }));
}

TEST(PollingKernel, EmptySamplingIsNotReportedAsMissing) {
  TraceModel model = empty_program();
  model.meta["trace"] = "cuda,pcsampling";
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_TRUE(std::any_of(analysis.refusals.begin(), analysis.refusals.end(), [](const Refusal& r) {
    return r.rule == "polling_kernel" && r.reason.find("none while it recorded") != std::string::npos;
  }));
}

TEST(PollingKernel, FindsNothingInComputation) {
  TraceModel model = empty_program();
  add_samples(model, "stream", {{0x70, "long_scoreboard", 900}}, listings::kStreaming);
  settle(model);
  EXPECT_EQ(find(analyze(model), "polling_kernel"), nullptr);
}

// CUPTI delivers no samples of functions that kernels call, and counts them as none of the program's.
TEST(PollingKernel, SaysWhereSamplesWithoutCodeMayHideAWait) {
  TraceModel model = empty_program();
  add_samples(model, "stream", {{0x70, "long_scoreboard", 900}}, listings::kStreaming);
  store::PcIntervalRow interval{};
  interval.device = 0;
  interval.samples = 1'200;
  interval.foreign_samples = 300;
  model.pc_intervals.push_back(interval);
  settle(model);
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "polling_kernel");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::info);
  EXPECT_NE(finding->text.find("25.0 % of the samples"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("unknown"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("without -G"), std::string::npos) << finding->remedy;
  model.pc_intervals.front().foreign_samples = 12;
  EXPECT_EQ(find(analyze(model), "polling_kernel"), nullptr);
}

}  // namespace
}  // namespace wicprof::analyzer
