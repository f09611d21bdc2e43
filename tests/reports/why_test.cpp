// The sentences of wic-prof why, for outcomes that need a GPU, a quota or another program to come about.
#include "reports/parts/why.h"

#include <gtest/gtest.h>

#include <string>

namespace wicprof::reports {
namespace {

constexpr char kHostPark[] = "wic-prof run --ab --side host -- app 1";

struct Case {
  TraceModel model;
  Analysis analysis;
  Comparison comparison;
  WhyRun recorded{.command = "wic-prof run -- app 1"};
  WhyRun tried{.command = "wic-prof run --ab -- app 1"};

  explicit Case(std::string rule = "host_spin", std::string command = kHostPark) {
    model.complete = true;
    model.meta = {{"command", "app 1"}, {"app", "app"}, {"trace", "cuda,nvtx,host"}};
    Finding finding;
    finding.rule = std::move(rule);
    finding.severity = Severity::warning;
    finding.text = "host threads spin";
    finding.evidence = "9 waits";
    finding.remedy = finding.command = std::move(command);
    finding.cost = Cost{Cost::Unit::cpus, 0.9};
    analysis.findings.push_back(finding);
    comparison.before.label = "poll";
    comparison.after.label = "park";
    comparison.both_modes = true;
    comparison.measured_at = "steps";
    comparison.host_side = true;
  }

  void outcome(Verdict verdict, double speedup) {
    comparison.verdict = verdict;
    comparison.speedup = Speedup{speedup, speedup * 0.99, speedup * 1.01};
    comparison.reason = "a reason with figures";
  }

  void waits_take(double before, double after) {
    SiteDifference site;
    site.site = "cudaStreamSynchronize in step";
    site.before_cpu = before;
    site.after_cpu = after;
    comparison.differences.sites.push_back(site);
  }

  Why why() const {
    return explain_why(
        {.model = model, .analysis = analysis, .recorded = &recorded, .tried = &tried, .comparison = &comparison});
  }
};

bool says(const Why& why, std::string_view words) { return why.paragraph().find(words) != std::string::npos; }

TEST(Why, WhatHelpsIsKept) {
  Case one;
  one.outcome(Verdict::improvement, 1.5);
  const Why why = one.why();
  EXPECT_TRUE(says(why, "Parking made the program faster: a reason with figures (timed: steps).")) << why.paragraph();
  EXPECT_TRUE(says(why, "cudaDeviceScheduleBlockingSync"));
  EXPECT_EQ(why.command, "wic-prof run --mode park --keep-last 1m --side host -- app 1");
}

TEST(Why, APythonProgramCannotCallCuda) {
  Case one;
  one.model.meta["app"] = "python3.11";
  one.outcome(Verdict::improvement, 1.5);
  EXPECT_FALSE(says(one.why(), "cudaSetDeviceFlags"));
  EXPECT_TRUE(says(one.why(), "in the deployment by the command below"));
}

TEST(Why, CpusThatParkingFreesAreWorthKeepingWhereOthersNeedThem) {
  Case one;
  one.outcome(Verdict::no_change, 0.999);
  EXPECT_TRUE(says(one.why(), "Leave these waits as they are."));
  one.waits_take(0.98, 0.05);
  const Why why = one.why();
  EXPECT_TRUE(says(why, "took 0.98 of a CPU polled and 0.05 parked. Where a CPU limit")) << why.paragraph();
  EXPECT_FALSE(says(why, "Leave these waits"));
  one.outcome(Verdict::regression, 0.9);
  EXPECT_TRUE(says(one.why(), "Parking made the program slower"));
  EXPECT_TRUE(says(one.why(), "Leave these waits as they are."));
  EXPECT_TRUE(one.why().command.empty());
}

TEST(Why, WhatIsOpenHasTheCommandThatSettlesIt) {
  Case one;
  one.outcome(Verdict::inconclusive, 1.01);
  one.comparison.settle = "wic-prof run --ab --for 5m -- app 1";
  const Why why = one.why();
  EXPECT_TRUE(says(why, "Whether parking helps remains open: a reason with figures"));
  EXPECT_TRUE(says(why, "Compare for longer before you change anything."));
  EXPECT_EQ(why.command, one.comparison.settle);
}

TEST(Why, PatchedLoopsWaitThroughTheApi) {
  Case one("polling_kernel", "wic-prof run --rewrite --schedule poll:2s,park:2s -- app 1");
  one.comparison.host_side = false;
  one.outcome(Verdict::improvement, 2);
  const Why why = one.why();
  EXPECT_TRUE(says(why, "A second run let the patched waiting loops of the program's kernels poll and park in turn."));
  EXPECT_TRUE(says(why, "wic::wait_until"));
  EXPECT_EQ(why.command, "wic-prof run --rewrite --mode park --side device --keep-last 1m -- app 1");
}

TEST(Why, WhatWeakensTheAnswerIsSaid) {
  Case one;
  Finding lost;
  lost.rule = "data_lost";
  lost.severity = Severity::critical;
  lost.text = "99 records were lost";
  one.analysis.findings.insert(one.analysis.findings.begin(), lost);
  one.outcome(Verdict::improvement, 1.5);
  one.comparison.notes = {"the iterations were not steady"};
  const Why why = one.why();
  ASSERT_NE(why.cause, nullptr);
  EXPECT_EQ(why.cause->rule, "host_spin");
  EXPECT_TRUE(says(why, "Mind that 99 records were lost."));
  EXPECT_TRUE(says(why, "Mind that the iterations were not steady."));
}

TEST(Why, ARemedyThatNothingSwitchesIsNamedBesideWhatWasTried) {
  Case one;
  Finding late = one.analysis.findings.front();
  late.rule = "late_launch";
  late.text = "work begins late";
  late.remedy = "launch several steps ahead";
  late.command.clear();
  late.cost = Cost{Cost::Unit::time, 0.3};
  one.analysis.findings.insert(one.analysis.findings.begin(), late);
  one.outcome(Verdict::no_change, 1);
  const std::string text = one.why().paragraph();
  EXPECT_TRUE(text.starts_with(
      "What costs most is that work begins late. It costs at most 30.0 % of the time. What to do about "
      "that: launch several steps ahead. Beside that, host threads spin. It costs at most 0.90 CPUs. "
      "A second run let the waits of host threads"))
      << text;
}

TEST(Why, TheCausesRemedyIsTriedFirst) {
  Case one;
  Finding resident = one.analysis.findings.front();
  resident.rule = "co_residency";
  resident.remedy = resident.command = "wic-prof run --ab --strategy auto -- app 1";
  resident.cost.reset();
  one.analysis.findings.insert(one.analysis.findings.begin(), resident);
  EXPECT_EQ(what_to_try(one.analysis)->finding->rule, "host_spin");
  one.analysis.findings.back().command = one.analysis.findings.back().remedy = "run fewer threads";
  EXPECT_EQ(what_to_try(one.analysis)->finding->rule, "co_residency");
  one.analysis.findings.front().severity = Severity::info;
  EXPECT_FALSE(what_to_try(one.analysis));
}

TEST(Why, ATraceFromElsewhereMayNotKnowItsProgram) {
  Case one;
  one.model.meta.erase("command");
  const Why why = explain_why({.model = one.model, .analysis = one.analysis});
  EXPECT_TRUE(says(why, "Nothing was tried, since this trace does not say how the program is started."));
  EXPECT_TRUE(why.command.empty());
  one.model.meta = {{"command", "app 1"}, {"trace", "cuda,$(x)"}, {"rewrite", "1"}};
  EXPECT_EQ(explain_why({.model = one.model, .analysis = one.analysis}).command, "wic-prof why --trace=cuda -- app 1");
}

}  // namespace
}  // namespace wicprof::reports
