// Host threads in synthetic programs: queries, waits in calls, and lacks of a CPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/analysis.h"
#include "analyzer/trace/modes.h"
#include "analyzer/trace/thread_names.h"
#include "program.h"

namespace wicprof::analyzer {
namespace {

using namespace test_program;

TEST(HostPolling, QueriesInQuickSuccessionFormARun) {
  Program program;
  program.kernel("k", 1, {0, 100 * kMillisecond});
  for (int i = 0; i < 1000; ++i) {
    const TimeNs at = 10 * kMillisecond + i * 10'000;
    program.call("cudaEventQuery_v3020", 7, {at, at + 2'000}, i == 999 ? 0 : 600);
    program.call("cuEventQuery", 7, {at + 500, at + 1'500},
                 i == 999 ? 0 : 600);  // the driver call inside the runtime call
  }
  const std::vector<PollingRun> runs = polling_runs(program.settled());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].queries, 1000u);
  EXPECT_EQ(runs[0].not_ready, 999u);
  EXPECT_TRUE(runs[0].ended_ready);
  EXPECT_EQ(runs[0].thread, 7u);
  EXPECT_EQ(runs[0].call, "cudaEventQuery_v3020");
  EXPECT_EQ(runs[0].end - runs[0].begin, 999 * 10'000 + 2'000);
  EXPECT_FALSE(runs[0].cpu_ns);
  const std::vector<HostPolling> polling = host_polling(program.model);
  ASSERT_EQ(polling.size(), 1u);
  EXPECT_NEAR(polling[0].queries_per_second, 1e5, 200);
}

TEST(HostPolling, ARowOfEqualQueriesCountsAllOfThem) {
  Program program;
  program.call("cudaEventQuery", 7, {kMillisecond, 2 * kMillisecond}, 600)->queries = 500;
  program.call("cudaEventQuery", 7, {2 * kMillisecond, 2 * kMillisecond + 500}, 0);
  const std::vector<PollingRun> runs = polling_runs(program.settled());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].queries, 501u);
  EXPECT_EQ(runs[0].not_ready, 500u);
}

TEST(HostPolling, GapsOtherCallsAndOtherThreadsSeparateRuns) {
  Program program;
  const auto three = [&](std::uint32_t thread, TimeNs at) {
    for (int i = 0; i < 3; ++i) program.call("cudaStreamQuery", thread, {at + i * 1'000, at + i * 1'000 + 100}, 600);
  };
  three(1, kMillisecond);
  three(2, kMillisecond + 50);  // at the same time
  three(1, 2 * kMillisecond);   // after a gap
  three(3, kMillisecond);
  program.call("cudaLaunchKernel", 3, {kMillisecond + 3'000, kMillisecond + 3'100});
  three(3, kMillisecond + 4'000);  // after other work
  EXPECT_EQ(polling_runs(program.settled()).size(), 5u);
  EXPECT_EQ(host_polling(program.model).size(), 3u);
}

TEST(HostPolling, OccasionalQueriesAreNoRun) {
  Program program;
  for (int i = 0; i < 100; ++i) program.call("cudaEventQuery", 1, {i * kMillisecond, i * kMillisecond + 100}, 600);
  for (int i = 0; i < 100; ++i) program.call("cudaEventQuery", 2, {i * 1'000, i * 1'000 + 100}, 0);  // always ready
  program.call("cudaEventQueryAll", 3, {1, 2}, 600);
  EXPECT_TRUE(polling_runs(program.settled()).empty());
  EXPECT_TRUE(is_query("cuStreamQuery_ptsz"));
  EXPECT_FALSE(is_query("cudaEventQueryAll"));
  EXPECT_FALSE(is_query(""));
}

TEST(HostPolling, CpuTimeComesFromTheThreadsSamples) {
  Program program;
  for (int i = 0; i <= 1000; ++i) program.call("cudaEventQuery", 7, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.sample(7, "app", {-5 * kMillisecond, 5 * kMillisecond}, 8 * kMillisecond);  // half of it within the run
  program.sample(7, "app", {5 * kMillisecond, 15 * kMillisecond}, 6 * kMillisecond);
  program.sample(8, "app", {0, 15 * kMillisecond}, 15 * kMillisecond);
  const std::vector<PollingRun> runs = polling_runs(program.settled());
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_TRUE(runs[0].cpu_ns);
  EXPECT_NEAR(static_cast<double>(*runs[0].cpu_ns), 7e6, 1e4);
}

TEST(HostPollsQueries, NamesTheThreadAndTheCallThatSleeps) {
  Program program;
  program.kernel("k", 1, {0, 20 * kMillisecond});
  for (int i = 0; i <= 1500; ++i) program.call("cudaEventQuery", 7, {i * 10'000, i * 10'000 + 5'000}, 600);
  const Analysis analysis = analyze(program.settled());
  const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& f) { return f.rule == "host_polls_queries"; });
  ASSERT_NE(finding, analysis.findings.end());
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("thread 7"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("cudaEventSynchronize"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("cudaEventBlockingSync"), std::string::npos) << finding->remedy;
}

TEST(HostPollsQueries, IsOneFindingForManyThreadsWithOneCall) {
  Program program;
  program.kernel("k", 1, {0, 20 * kMillisecond});
  for (std::uint32_t thread = 7; thread < 12; ++thread) {
    for (int i = 0; i <= 1500; ++i) program.call("cudaEventQuery", thread, {i * 10'000, i * 10'000 + 5'000}, 600);
  }
  for (int i = 0; i <= 1500; ++i) program.call("cudaStreamQuery", 20, {i * 10'000, i * 10'000 + 5'000}, 600);
  const Analysis analysis = analyze(program.settled());
  std::vector<std::string> texts;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == "host_polls_queries") texts.push_back(finding.text + finding.evidence);
  }
  std::sort(texts.begin(), texts.end());
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_TRUE(texts[0].starts_with("5 threads poll the GPU with cudaEventQuery")) << texts[0];
  EXPECT_NE(texts[0].find("and 2 more threads"), std::string::npos) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("thread 20 polls the GPU with cudaStreamQuery")) << texts[1];
}

TEST(ThreadNames, NameTheMainThreadAndNamedThreads) {
  Program program;
  program.model.meta["app"] = "a_program_with_a_long_name";
  program.model.processes = {{100, 1, "a_program_with_a_long_name", "app", {}, {}, 0}};
  program.sample(100, "a_program_with_", {0, kMillisecond}, kMillisecond).process = 100;
  program.sample(101, "a_program_with_", {0, kMillisecond}, kMillisecond).process = 100;
  program.sample(101, "cuda-EvtHandlr", {kMillisecond, 2 * kMillisecond}, kMillisecond).process = 100;
  program.sample(102, "a_program_with_", {0, kMillisecond}, kMillisecond).process = 100;
  {
    const ThreadNames names(program.settled());
    EXPECT_EQ(names.of(100, 100), "main thread");
    EXPECT_EQ(names.of(100, 101), "cuda-EvtHandlr (thread 101)");
    EXPECT_EQ(names.of(100, 102), "thread 102");
    EXPECT_EQ(names.of(0, 0), "thread 0");
  }
  program.model.processes.push_back({200, 1, "other", "app", 1, 1, 0});
  const ThreadNames names(program.settled());
  EXPECT_EQ(names.of(200, 200), "main thread of rank 1");
  EXPECT_EQ(names.of(100, 102), "thread 102 of process 100");
}

TEST(HostPollsQueries, ItsShareRefersToTheHostsTime) {
  Program program;
  program.kernel("k", 1, {0, kMillisecond});  // the device was done long before the host stopped polling
  for (int i = 0; i <= 1500; ++i) program.call("cudaEventQuery", 7, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.call("cudaLaunchKernel", 7, {25 * kMillisecond, 30 * kMillisecond});
  const Analysis analysis = analyze(program.settled());
  const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& f) { return f.rule == "host_polls_queries"; });
  ASSERT_NE(finding, analysis.findings.end());
  EXPECT_NE(finding->text.find(", 50.0 % of"), std::string::npos) << finding->text;
}

TEST(HostWaits, CpuTimeSeparatesSpinningFromSleeping) {
  Program program;
  program.host_wait("cudaDeviceSynchronize", {0, 10 * kMillisecond}, 9 * kMillisecond);
  program.host_wait("cudaStreamSynchronize", {0, 10 * kMillisecond}, 20'000);
  program.host_wait("cudaEventSynchronize", {0, 10 * kMillisecond}, 5 * kMillisecond);
  program.host_wait("cuCtxSynchronize", {0, 10 * kMillisecond}, std::nullopt);
  {
    auto delayed = program.host_wait("cuCtxSynchronize", {0, kMillisecond}, std::nullopt);
    delayed.run_delay = 300'000;
    delayed.involuntary_switches = 2;
  }
  const auto way_of = [stats = host_wait_stats(program.settled())](std::string_view call) {
    return std::find_if(stats.begin(), stats.end(), [&](const auto& s) { return s.name == call; })->way();
  };
  EXPECT_EQ(way_of("cudaDeviceSynchronize"), WaitingWay::spinning);
  EXPECT_EQ(way_of("cudaStreamSynchronize"), WaitingWay::sleeping);
  EXPECT_EQ(way_of("cudaEventSynchronize"), WaitingWay::mixed);
  EXPECT_EQ(way_of("cuCtxSynchronize"), WaitingWay::unknown);
  const auto stats = host_wait_stats(program.model);
  EXPECT_EQ(stats.front().name, "cuCtxSynchronize");  // the longest total time
  EXPECT_EQ(stats.front().run_delay_ns, 300'000);
  EXPECT_EQ(stats.front().involuntary_switches, 2u);
}

void add_site(Program& program, SiteId id, const char* name) {
  store::SiteRow site{};
  site.id = id;
  site.name = name;
  program.model.sites.push_back(site);
}

TEST(HostWaits, EachPlaceThatMakesACallHasItsOwnFigures) {
  Program program;
  add_site(program, 300, "cudaStreamSynchronize in step");
  add_site(program, 301, "cudaStreamSynchronize in check");
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (const SiteId site : {300u, 301u}) {
      const TimeNs begin = i * 10 * kMillisecond + (site == 301u ? 5 * kMillisecond : 0);
      auto wait = program.host_wait("cudaStreamSynchronize", {begin, begin + kMillisecond}, kMillisecond);
      wait.site = site;
      wait.iteration = i;
    }
  }
  const Analysis alone = analyze(program.settled());
  ASSERT_EQ(alone.host_waits.size(), 2u);
  EXPECT_EQ(alone.host_waits[0].call, "cudaStreamSynchronize");
  EXPECT_NE(alone.host_waits[0].name, alone.host_waits[1].name);
  // Such a program has no sites of its own, so the calls count as sites: with waits, and with iterations to compare.
  ASSERT_EQ(alone.sites.size(), 2u);
  EXPECT_EQ(alone.sites[0].host_count, 4u);
  ASSERT_TRUE(alone.iterations);
  EXPECT_EQ(alone.iterations->list.size(), 3u);
  const auto spins = std::count_if(alone.findings.begin(), alone.findings.end(), [](const Finding& f) {
    return f.rule == "host_spin" && f.text.find("cudaStreamSynchronize in ") != std::string::npos;
  });
  EXPECT_EQ(spins, 2);

  // Where the program declares a site, that is what the sites' figures are about.
  add_site(program, 1, "halo");
  store::HostWaitRow own{};
  own.site = 1;
  own.begin = 0;
  own.end = kMillisecond;
  program.model.host_waits.push_back(own);
  const Analysis beside = analyze(program.settled());
  ASSERT_EQ(beside.sites.size(), 1u);
  EXPECT_EQ(beside.sites[0].name, "halo");
  EXPECT_EQ(beside.host_waits.size(), 3u);
}

TEST(HostWaits, AreSplitByWhatTheirWorkDid) {
  Program program;
  // Per wait of 10 ms: 1 ms behind another kernel, 1 ms until the work begins, 6 ms of work, 2 ms until the thread goes
  // on.
  for (TimeNs i = 0; i < 10; ++i) {
    const TimeNs at = (i + 1) * 20 * kMillisecond;
    program.kernel("before", 1, {at - 2 * kMillisecond, at + kMillisecond});
    program.kernel("work", 1, {at + 2 * kMillisecond, at + 8 * kMillisecond});
    program.host_wait("cudaStreamSynchronize", {at, at + 10 * kMillisecond}, kMillisecond).run_delay = 1'500'000;
  }
  const Analysis analysis = analyze(program.settled());
  ASSERT_EQ(analysis.host_wait_parts.size(), 1u);
  const HostWaitParts& parts = analysis.host_wait_parts.front();
  EXPECT_EQ(parts.name, "cudaStreamSynchronize");
  EXPECT_EQ(parts.waits, 10u);
  EXPECT_EQ(parts.waiting_ns, 100 * kMillisecond);
  EXPECT_EQ(parts.queued_ns, 10 * kMillisecond);
  EXPECT_EQ(parts.launching_ns, 10 * kMillisecond);
  EXPECT_EQ(parts.running_ns, 60 * kMillisecond);
  EXPECT_EQ(parts.completing_ns, 20 * kMillisecond);
  EXPECT_EQ(parts.without_cpu_ns, 15 * kMillisecond);
  const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& f) { return f.rule == "late_completion"; });
  ASSERT_NE(finding, analysis.findings.end());
  EXPECT_NE(finding->text.find("20.0 ms of 100 ms of waiting, 2.00 ms per wait"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("fewer threads"), std::string::npos);  // most of it was a lack of CPUs
}

TEST(HostWaits, AThreadThatSleepsInTheCallsPlaceIsToldToPredict) {
  Program program;
  add_site(program, 300, "cudaStreamSynchronize in step");
  for (TimeNs i = 0; i < 10; ++i) {
    const TimeNs at = i * 20 * kMillisecond;
    program.kernel("work", 1, {at, at + 8 * kMillisecond});
    auto wait = program.host_wait("cudaStreamSynchronize", {at, at + 9 * kMillisecond}, kMillisecond);
    wait.site = 300;
    wait.strategy = StrategyId::block;
    wait.run_delay = 0;
  }
  const Analysis analysis = analyze(program.settled());
  const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& f) { return f.rule == "late_completion"; });
  ASSERT_NE(finding, analysis.findings.end());
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --side host --strategy hybrid");
  EXPECT_EQ(finding->site, 300u);
}

TEST(HostWaits, AThreadThatCopiesPageableMemoryIsToldToPinIt) {
  for (const CopyMemory memory : {CopyMemory::pageable, CopyMemory::pinned}) {
    Program program;
    for (std::uint32_t i = 0; i < 10; ++i) {
      const TimeNs at = i * 20 * kMillisecond;
      store::CopyRow copy{};
      copy.kind = CopyKind::device_to_host;
      copy.start = at + kMillisecond;
      copy.end = at + 2 * kMillisecond;
      copy.context = Program::kContext;
      copy.stream = 1;
      copy.correlation = i + 1;
      copy.process = Program::kProcess;
      copy.source = CopyMemory::device;
      copy.destination = memory;
      program.model.copies.push_back(copy);
      program.call("cudaMemcpy", 7, {at, at + 9 * kMillisecond}, 0, i + 1);
      auto wait = program.host_wait("cudaMemcpy", {at, at + 9 * kMillisecond}, 9 * kMillisecond);
      wait.correlation = i + 1;
      wait.run_delay = 0;
    }
    const Analysis analysis = analyze(program.settled());
    const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                      [](const Finding& f) { return f.rule == "late_completion"; });
    ASSERT_NE(finding, analysis.findings.end());
    EXPECT_EQ(finding->remedy.find("cudaMallocHost") != std::string::npos, memory == CopyMemory::pageable)
        << finding->remedy;
  }
}

TEST(HostWaits, AThreadThatGoesOnAtOnceIsNotLate) {
  Program program;
  for (TimeNs i = 0; i < 10; ++i) {
    const TimeNs at = i * 20 * kMillisecond;
    program.kernel("work", 1, {at, at + 8 * kMillisecond});
    program.host_wait("cudaStreamSynchronize", {at, at + 8 * kMillisecond + 5'000}, kMillisecond);
  }
  const Analysis analysis = analyze(program.settled());
  EXPECT_EQ(std::count_if(analysis.findings.begin(), analysis.findings.end(),
                          [](const Finding& f) { return f.rule == "late_completion"; }),
            0);
  EXPECT_FALSE(analysis.host_wait_parts.front().without_cpu_ns);
}

store::InterventionRow switched(TimeNs at, Mode to, WaitSide side) {
  store::InterventionRow row{};
  row.old_mode = to == Mode::park ? Mode::poll : Mode::park;
  row.new_mode = to;
  row.requested = row.effective = at;
  row.side = side;
  return row;
}

TEST(Modes, EachSideFollowsItsOwnChanges) {
  Program program;
  add_site(program, 1, "halo");
  add_site(program, 300, "cudaStreamSynchronize in step");
  program.model.sites.back().side = SiteSide::host;
  program.kernel("work", 1, {0, 100 * kMillisecond});
  program.model.interventions = {switched(20 * kMillisecond, Mode::park, WaitSide::both),
                                 switched(20 * kMillisecond + 1, Mode::park, WaitSide::host),
                                 switched(60 * kMillisecond, Mode::poll, WaitSide::host)};
  const Modes modes(program.settled());
  EXPECT_EQ(modes.at(1, 10 * kMillisecond), Mode::poll);
  EXPECT_EQ(modes.at(1, 50 * kMillisecond), Mode::park);
  EXPECT_EQ(modes.at(1, 90 * kMillisecond), Mode::park);  // only host threads went back
  EXPECT_EQ(modes.at(0, 90 * kMillisecond), Mode::park);
  EXPECT_EQ(modes.at(300, 10 * kMillisecond), Mode::poll);
  EXPECT_EQ(modes.at(300, 50 * kMillisecond), Mode::park);
  EXPECT_EQ(modes.at(300, 90 * kMillisecond), Mode::poll);
  EXPECT_EQ(program_interventions(program.model).size(), 1u);
}

TEST(Modes, WithoutOtherWaitsHostThreadsAreTheProgram) {
  Program program;
  program.kernel("work", 1, {0, 100 * kMillisecond});
  program.model.interventions = {switched(20 * kMillisecond, Mode::park, WaitSide::host)};
  const Modes modes(program.settled());
  EXPECT_EQ(modes.at(0, 10 * kMillisecond), Mode::poll);
  EXPECT_EQ(modes.at(0, 50 * kMillisecond), Mode::park);
  EXPECT_EQ(program_interventions(program.model).size(), 1u);
}

TEST(HostThrottled, NamesTheQuotaAndTheThreadsThatSpinInIt) {
  const auto finding_of = [](std::int64_t throttled, bool spins, bool parked_later = false) {
    Program program;
    add_site(program, 300, "cudaStreamSynchronize in step");
    program.kernel("work", 1, {0, 1000 * kMillisecond});
    program.host_wait("cudaStreamSynchronize", {0, 1000 * kMillisecond}, spins ? 900 * kMillisecond : kMillisecond)
        ->site = 300;
    if (parked_later) {
      auto parked =
          program.host_wait("cudaStreamSynchronize", {1000 * kMillisecond, 9000 * kMillisecond}, kMillisecond);
      parked->site = 300;
      parked->strategy = StrategyId::hybrid;
    }
    program.model.stats.push_back({"throttled_ns", "", store::StatRow::Severity::info, throttled});
    program.model.stats.push_back({"throttled_periods", "", store::StatRow::Severity::info, 7});
    const Analysis analysis = analyze(program.settled());
    const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& f) { return f.rule == "host_throttled"; });
    return found == analysis.findings.end() ? Finding{} : *found;
  };
  const Finding spinning = finding_of(300 * kMillisecond, true);
  EXPECT_NE(spinning.text.find("300 ms"), std::string::npos) << spinning.text;
  EXPECT_NE(spinning.evidence.find("7 periods"), std::string::npos) << spinning.evidence;
  EXPECT_EQ(spinning.remedy, "wic-prof toggle park --side host");
  EXPECT_EQ(finding_of(300 * kMillisecond, true, true).remedy, spinning.remedy) << "parked later, threads sleep";
  EXPECT_NE(finding_of(300 * kMillisecond, false).remedy.find("raise the quota"), std::string::npos);
  EXPECT_EQ(finding_of(5 * kMillisecond, true).text, "");
  EXPECT_EQ(finding_of(0, true).text, "");
}

const Finding* descheduled(const Analysis& analysis) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [](const Finding& f) { return f.rule == "host_descheduled"; });
  return found == analysis.findings.end() ? nullptr : &*found;
}

TEST(HostDescheduled, NamesTheDescheduledThread) {
  Program program;
  program.kernel("k", 1, {0, 100 * kMillisecond});
  for (int i = 0; i < 10; ++i) {
    store::ThreadSampleRow& row =
        program.sample(7, "rank 0", {i * 10 * kMillisecond, (i + 1) * 10 * kMillisecond}, 6 * kMillisecond);
    row.run_delay = 3 * kMillisecond;
    row.involuntary_switches = 4;
    program.sample(8, "calm", {i * 10 * kMillisecond, (i + 1) * 10 * kMillisecond}, 9 * kMillisecond).run_delay =
        10'000;
    program.sample(9, "wicprof-drain", {i * 10 * kMillisecond, (i + 1) * 10 * kMillisecond}, kMillisecond).run_delay =
        5 * kMillisecond;
  }
  program.host_wait("cudaDeviceSynchronize", {0, 50 * kMillisecond}, kMillisecond)->run_delay = 2 * kMillisecond;
  const Analysis analysis = analyze(program.settled());
  const Finding* finding = descheduled(analysis);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("rank 0 (thread 7)"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("30.0 ms"), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("40 times, 2.00 ms of it while waiting"), std::string::npos) << finding->evidence;
  const auto all = std::count_if(analysis.findings.begin(), analysis.findings.end(),
                                 [](const Finding& f) { return f.rule == "host_descheduled"; });
  EXPECT_EQ(all, 1);  // neither the undisturbed thread nor our own
}

TEST(HostDescheduled, IsOneFindingForManyThreadsAndNamesTheWorst) {
  Program program;
  program.kernel("k", 1, {0, 100 * kMillisecond});
  for (int i = 0; i < 10; ++i)
    program.sample(100 + i, "worker", {0, 100 * kMillisecond}, 40 * kMillisecond).run_delay = (20 + i) * kMillisecond;
  const Analysis analysis = analyze(program.settled());
  std::vector<Finding> found;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == "host_descheduled") found.push_back(finding);
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.starts_with("10 threads were ready to run")) << found[0].text;
  for (const char* name : {"thread 109", "thread 108", "thread 107", "7 more threads"})
    EXPECT_NE((found[0].text + found[0].evidence).find(name), std::string::npos) << name << found[0].evidence;
}

TEST(HostDescheduled, RefusesWithoutSamplesAndWithoutDelays) {
  const auto refused = [](const Analysis& analysis) {
    return std::any_of(analysis.refusals.begin(), analysis.refusals.end(),
                       [](const Refusal& r) { return r.rule == "host_descheduled"; });
  };
  Program program;
  EXPECT_TRUE(refused(analyze(program.settled())));
  program.sample(7, "app", {0, kMillisecond}, kMillisecond);
  EXPECT_TRUE(refused(analyze(program.settled())));
  program.model.thread_samples[0].run_delay = 0;
  EXPECT_FALSE(refused(analyze(program.settled())));
}

}  // namespace
}  // namespace wicprof::analyzer
