// Why host threads, launches and kernels were late: in made runs, whose delays are known.
#include "analyzer/path/lateness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "analyzer/analysis.h"
#include "analyzer/ranks/digest.h"
#include "program.h"
#include "tests/analyzer/made_programs/delayed_run.h"

namespace wicprof::analyzer {
namespace {

using namespace made_programs;

/// Half of the runs served to write the analysis; this half only judges it.
constexpr std::uint64_t kJudging = 2'000'000;
constexpr std::uint64_t kRuns = 420;

TEST(Lateness, NamesInjectedDelaysAndNoneSurelyWrong) {
  std::map<std::string, Named> by_kind;
  for (std::uint64_t seed = kJudging; seed < kJudging + kRuns; ++seed) {
    const DelayedRun run = make_delayed_run(seed);
    by_kind[injected_name(run.kind)] += judge(run);
  }
  EXPECT_EQ(by_kind.size(), static_cast<std::size_t>(kInjected));
  for (const auto& [kind, named] : by_kind) {
    EXPECT_GT(named.delays, 200u) << kind;
    // Of the time that the machine's host took, the trace has only the sum.
    const double bar = kind == injected_name(Injected::steal) ? 0.9 : 0.95;
    EXPECT_GE(static_cast<double>(named.right), bar * static_cast<double>(named.delays))
        << kind << ": " << named.right << " of " << named.delays << ", unnamed " << named.unnamed << ", wrong "
        << named.wrong;
    EXPECT_EQ(named.surely_wrong, 0u) << kind;
  }
}

/// The first run of a kind that has delays only of that kind.
DelayedRun run_of(Injected kind, bool spins) {
  for (std::uint64_t seed = 0;; ++seed) {
    DelayedRun run = make_delayed_run(seed);
    if (run.kind == kind && run.spins == spins && !run.hidden && judge(run).delays > 10) return run;
  }
}

const Finding* finding(const Analysis& analysis, std::string_view rule) {
  for (const Finding& one : analysis.findings) {
    if (one.rule == rule) return &one;
  }
  return nullptr;
}

TEST(Lateness, DigestsKeepLateLaunchesOfASharedDevice) {
  TraceModel late = run_of(Injected::late_launch, true).model;
  late.name = "late.wicprof";
  const Analysis of_trace = analyze(late), of_digest = analyze(digest(late, most_calls(late)));
  ASSERT_FALSE(of_trace.interrupted_kernels.empty());
  ASSERT_EQ(of_digest.interrupted_kernels.size(), of_trace.interrupted_kernels.size());
  const InterruptedKernels &kept = of_digest.interrupted_kernels[0], &found = of_trace.interrupted_kernels[0];
  EXPECT_GT(found.late_starts, 0u);
  EXPECT_EQ(std::tuple(kept.process, kept.context, kept.device, kept.kernels, kept.late_starts, kept.turn_ns),
            std::tuple(found.process, found.context, found.device, found.kernels, found.late_starts, found.turn_ns));
  EXPECT_EQ(std::tuple(kept.lost_ns, kept.kinds, kept.shortest_ns, kept.longest_ns, kept.others, kept.sure),
            std::tuple(found.lost_ns, found.kinds, found.shortest_ns, found.longest_ns, found.others, found.sure));
  ASSERT_NE(finding(of_digest, "shared_device"), nullptr);
  EXPECT_EQ(finding(of_digest, "shared_device")->text, finding(of_trace, "shared_device")->text);
}

TEST(Lateness, FindingsSayWhatToDoAndWhatItGains) {
  const Analysis crowded = analyze(run_of(Injected::co_runner, true).model);
  const Finding* found = finding(crowded, "host_oversubscribed");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->remedy, "wic-prof toggle park --side host");
  EXPECT_NE(found->evidence.find("without that idle time, the run would be at most "), std::string::npos)
      << found->evidence;
  EXPECT_EQ(finding(crowded, "late_launch"), nullptr);

  const Analysis sleeping = analyze(run_of(Injected::co_runner, false).model);
  found = finding(sleeping, "host_oversubscribed");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->remedy.find("taskset"), std::string::npos);  // its threads do not spin

  const Analysis late = analyze(run_of(Injected::late_launch, true).model);
  found = finding(late, "late_launch");
  ASSERT_NE(found, nullptr);
  // Its calls have returned in time, so that others may have had the device.
  EXPECT_NE(finding(late, "shared_device"), nullptr);
  EXPECT_TRUE(found->remedy.starts_with("see shared_device")) << found->remedy;
  EXPECT_EQ(finding(late, "host_oversubscribed"), nullptr);

  const Analysis quota = analyze(run_of(Injected::quota, true).model);
  found = finding(quota, "host_throttled");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->evidence.find("launches and waits were late"), std::string::npos) << found->evidence;

  // Nobody knows when the host took the time, so that this is a possibility.
  const Analysis stolen = analyze(run_of(Injected::steal, true).model);
  found = finding(stolen, "host_stolen");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::info);
}

TEST(Lateness, SumsOfSitesAddUp) {
  const Analysis crowded = analyze(run_of(Injected::co_runner, true).model);
  ASSERT_FALSE(crowded.lateness.by_site.empty());
  std::map<LateCause, TimeNs> late;
  for (const LateSum& sum : crowded.lateness.by_site) late[sum.cause] += sum.late_ns;
  for (const LateSum& sum : crowded.lateness.sums) EXPECT_EQ(late[sum.cause], sum.late_ns);
}

TEST(HostGain, IsWhatAQuotaTakesAndAtMostWhatOthersTake) {
  const DelayedRun quota = run_of(Injected::quota, true);
  const Analysis throttled = analyze(quota.model);
  ASSERT_TRUE(throttled.host_park_gain);
  EXPECT_GT(throttled.host_park_gain->value, 1.01);
  EXPECT_LE(throttled.host_park_gain->low, throttled.host_park_gain->value);
  EXPECT_GE(throttled.host_park_gain->high, throttled.host_park_gain->value);
  // Also what stops it too briefly to be named is in the interval.
  TimeNs stopped = 0;
  for (const store::StatRow& row : quota.model.stats) stopped += row.name == "throttled_ns" ? row.value : 0;
  const TimeNs whole = quota.model.host_waits.back().end - quota.model.kernels.front().start;
  ASSERT_LT(stopped, whole);
  EXPECT_GE(throttled.host_park_gain->high, 0.99 * static_cast<double>(whole) / static_cast<double>(whole - stopped));
  const Analysis crowded = analyze(run_of(Injected::co_runner, true).model);
  ASSERT_TRUE(crowded.host_park_gain);
  EXPECT_LE(crowded.host_park_gain->low, 1);
  EXPECT_GT(crowded.host_park_gain->high, crowded.host_park_gain->value);
  const Analysis late = analyze(run_of(Injected::late_launch, true).model);
  ASSERT_TRUE(late.host_park_gain);
  EXPECT_NEAR(late.host_park_gain->value, 1, 0.01);
  EXPECT_FALSE(analyze(run_of(Injected::co_runner, false).model).host_park_gain);  // sleeping threads spin nowhere
}

TEST(Lateness, ARunWithoutStepsIsRefused) {
  const Analysis analysis = analyze(test_program::Program().settled());
  EXPECT_EQ(analysis.lateness.steps, 0u);
  EXPECT_TRUE(std::any_of(analysis.refusals.begin(), analysis.refusals.end(),
                          [](const Refusal& refusal) { return refusal.rule == "late_launch"; }));
}

}  // namespace
}  // namespace wicprof::analyzer
