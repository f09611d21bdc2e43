// Kernels, host threads, streams and the cost of recording, in synthetic programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyzer/analysis.h"
#include "analyzer/trace/modes.h"
#include "analyzer/trace/thread_names.h"
#include "devices.h"
#include "program.h"
#include "reports/json/answers.h"
#include "reports/text/answers.h"

namespace wicprof::analyzer {
namespace {

using namespace test_program;

TEST(Kernels, StatsOfOneNameDescribeTheShapeWithTheMostTime) {
  Program program;
  program.model.devices = {test_devices::h100()};
  for (int i = 0; i < 99; ++i) program.kernel("small", 1, {i * kMillisecond, i * kMillisecond + 1'000})->grid[0] = 1;
  {
    auto large = program.kernel("small", 1, {100 * kMillisecond, 110 * kMillisecond});
    large.grid[0] = 132 * 4 * 2 + 132;
    large.block[0] = 256;
    large.registers_per_thread = 64;
  }
  program.kernel("other", 1, {110 * kMillisecond, 111 * kMillisecond});
  const std::vector<KernelStats> stats = kernel_stats(program.settled());
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].name, "small");
  EXPECT_EQ(stats[0].count, 100u);
  EXPECT_EQ(stats[0].total_ns, 10 * kMillisecond + 99 * 1'000);
  EXPECT_EQ(stats[0].p50_ns, 1'000);
  EXPECT_EQ(stats[0].p99_ns, 1'000);
  EXPECT_EQ(stats[0].max_ns, 10 * kMillisecond);
  EXPECT_EQ(stats[0].shapes, 2u);
  ASSERT_TRUE(stats[0].occupancy);
  EXPECT_EQ(stats[0].occupancy->blocks_per_sm, 4u);
  EXPECT_EQ(stats[0].occupancy->limit, OccupancyLimit::registers);
  ASSERT_TRUE(stats[0].waves);
  EXPECT_DOUBLE_EQ(stats[0].waves->waves, 2.25);
  EXPECT_DOUBLE_EQ(stats[0].waves->last_wave_fill, 0.25);
  EXPECT_NEAR(stats[0].share, 10.099 / 111, 1e-9);
}

TEST(Kernels, TheRuntimesOwnAreNotTheProgramsKernels) {
  Program program;
  program.kernel("wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*, unsigned int)", 1,
                 {0, kMillisecond});
  program.kernel("void wic::detail::gpu_entry<app::Step>(app::Step)", 1, {kMillisecond, 2 * kMillisecond});
  const TraceModel& model = program.settled();
  const std::vector<KernelStats> stats = kernel_stats(model);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_NE(stats[0].name.find("app::Step"), std::string::npos);
  EXPECT_EQ(count_program_kernels(model), 1u);
}

TEST(Kernels, OccupancyUsesTheConfiguredSharedMemoryIfABlockFits) {
  Program program;
  program.model.devices = {test_devices::h100()};
  {
    auto kernel = program.kernel("k", 1, {0, kMillisecond});
    kernel.block[0] = 128;
    kernel.dynamic_shared_bytes = 7 * 1024;
    kernel.shared_executed_bytes = 32 * 1024;
  }
  EXPECT_EQ(kernel_stats(program.settled())[0].occupancy->blocks_per_sm, 4u);
  program.model.kernels.edit(0)->shared_executed_bytes = 1024;  // too small for a single block, so the record is wrong
  EXPECT_EQ(kernel_stats(program.settled())[0].occupancy->blocks_per_sm, 16u);
}

TEST(Kernels, HaveNoOccupancyOnAnUnknownDevice) {
  Program program;
  program.model.devices.clear();
  program.kernel("k", 1, {5, 5});
  program.kernel("k", 1, {9, 3});  // ends before its start
  const std::vector<KernelStats> stats = kernel_stats(program.settled());
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_FALSE(stats[0].occupancy);
  EXPECT_FALSE(stats[0].waves);
  EXPECT_EQ(stats[0].total_ns, 0);
  EXPECT_TRUE(kernel_stats(TraceModel{}).empty());
}

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

TEST(OwnCost, CountsOurThreadsInTheProgramAndInTheTool) {
  Program program;
  program.model.processes = {{100, 1, "app", "app --fast", std::nullopt, std::nullopt, 0},
                             {200, 1, "wic-prof", "wic-prof run -- app", std::nullopt, std::nullopt, 0}};
  program.sample(1, "app", {0, 1000 * kMillisecond}, 990 * kMillisecond).process = 100;
  program.sample(2, "wicprof-flush", {0, 500 * kMillisecond}, 5 * kMillisecond).process = 100;
  program.sample(3, "drain", {0, 1000 * kMillisecond}, 15 * kMillisecond).process = 200;
  store::OverheadRow overhead;
  overhead.what = "CUPTI buffer flush";
  overhead.start = 10;
  overhead.end = 1'010;
  program.model.overheads = {overhead, overhead};
  const Analysis analysis = analyze(program.settled());
  EXPECT_EQ(analysis.own_cost.in_program_ns, 5 * kMillisecond);
  EXPECT_EQ(analysis.own_cost.in_tool_ns, 15 * kMillisecond);
  EXPECT_EQ(analysis.own_cost.threads, 2u);
  EXPECT_DOUBLE_EQ(analysis.own_cost.share, 0.02);
  ASSERT_EQ(analysis.own_cost.overheads.size(), 1u);
  EXPECT_EQ(analysis.own_cost.overheads[0].count, 2u);
  EXPECT_EQ(analysis.own_cost.overheads[0].total_ns, 2'000);
  EXPECT_NE(
      reports::analysis_text(program.model, analysis, {.verbose = true}).find("wic-prof itself: 20.0 ms of CPU time"),
      std::string::npos);
}

TEST(OwnCost, IsUnknownWithoutSamples) {
  Program program;
  const Analysis analysis = analyze(program.settled());
  EXPECT_FALSE(analysis.own_cost.sampled);
  EXPECT_EQ(reports::analysis_text(program.model, analysis, {.verbose = true}).find("wic-prof itself"),
            std::string::npos);
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_TRUE(json["own_cost"]["cpu_ns"].is_null());
}

// Stream 1 runs a kernel and records an event; stream 2 waits for the event before its own work.
struct TwoStreams : Program {
  TwoStreams() {
    launch("producer", 1, {1 * kMillisecond, 10 * kMillisecond}, 0);
    event(55, 1, 100'000, 10 * kMillisecond);
    launch("before", 2, {1 * kMillisecond, 3 * kMillisecond}, 200'000);
    stream_wait(2, 55, 300'000);
    launch("behind", 2, {10 * kMillisecond + 5'000, 12 * kMillisecond}, 400'000);
  }
};

TEST(StreamWaits, NamesWaiterAndSignallerAndMeasuresIdleTime) {
  TwoStreams program;
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.without_event, 0u);
  const StreamWaits& waits = table.rows[0];
  EXPECT_EQ(waits.waiter.stream, 2u);
  EXPECT_EQ(waits.signaller.stream, 1u);
  EXPECT_EQ(waits.behind, "producer");
  EXPECT_EQ(waits.count, 1u);
  EXPECT_EQ(waits.idle_ns, 7 * kMillisecond);  // from the end of "before" to the event
}

TEST(StreamWaits, AnEventWithoutATimeIsReachedAtItsKernelsEnd) {
  TwoStreams program;
  program.model.cuda_events[0].at.reset();
  EXPECT_EQ(stream_waits(program.settled()).rows.at(0).idle_ns, 7 * kMillisecond);
}

TEST(StreamWaits, ABusyStreamOrOneWithoutWorkIsNotIdle) {
  TwoStreams busy;
  busy.model.kernels.edit(1)->end = 11 * kMillisecond;
  EXPECT_EQ(stream_waits(busy.settled()).rows.at(0).idle_ns, 0);
  TwoStreams late;  // the later work was requested long after the event was reached
  late.model.calls.edit_all([&](auto& call) {
    if (call.start >= 400'000) call.start += 20 * kMillisecond, call.end += 20 * kMillisecond;
  });
  late.model.kernels.edit(2)->start += 20 * kMillisecond;
  late.model.kernels.edit(2)->end += 20 * kMillisecond;
  EXPECT_EQ(stream_waits(late.settled()).rows.at(0).idle_ns, 0);
  TwoStreams nothing;
  nothing.model.kernels.erase_if([&](const auto& row) { return row.id == nothing.model.kernels.back().id; });
  const StreamWaitTable table = stream_waits(nothing.settled());
  EXPECT_EQ(table.rows.at(0).timed, 0u);
  EXPECT_EQ(table.rows.at(0).count, 1u);
}

TEST(StreamWaits, SeveralWaitsBeforeTheSameWorkCountOnce) {
  TwoStreams program;
  program.stream_wait(2, 55, 310'000);
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].count, 2u);
  EXPECT_EQ(table.rows[0].timed, 2u);
  EXPECT_EQ(table.rows[0].idle_ns, 7 * kMillisecond);
}

TEST(StreamWaits, AnEventWithoutADeviceBelongsToItsKernelsDevice) {
  TwoStreams program;
  program.model.cuda_events[0].device = -1;
  EXPECT_EQ(stream_waits(program.settled()).rows.at(0).device, 0);
}

TEST(StreamWaits, AReusedEventIsAnotherRecording) {
  TwoStreams program;
  // The same event is recorded again on stream 3; a wait for recording 55 still waits for stream 1.
  program.launch("later", 3, {20 * kMillisecond, 30 * kMillisecond}, 15 * kMillisecond);
  program.event(56, 3, 16 * kMillisecond, 30 * kMillisecond);
  ASSERT_EQ(program.model.cuda_events[0].event, program.model.cuda_events[1].event);
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].signaller.stream, 1u);
}

TEST(StreamWaits, WaitsWithoutARecordedEventAreCounted) {
  TwoStreams program;
  program.model.cuda_events.clear();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 1u);
  program.model.syncs[0].event_sync.reset();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 1u);
  program.model.syncs[0].stream.reset();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 0u);
  TwoStreams itself;
  itself.model.syncs[0].stream = 1;
  EXPECT_TRUE(stream_waits(itself.settled()).rows.empty());
  TwoStreams other;  // another process's recording with the same number
  other.model.cuda_events[0].process = 999;
  EXPECT_EQ(stream_waits(other.settled()).without_event, 1u);
}

TEST(Activity, IsInJsonAndText) {
  TwoStreams program;
  program.model.devices = {test_devices::h100()};
  program.model.processes = {{0x10, 1, "app", "app 0", 0, 0, 0}, {0x11, 1, "app", "app 1", 1, 1, 0}};
  for (int i = 0; i <= 100; ++i) program.call("cudaEventQuery", 7, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.sample(7, "app", {0, kMillisecond}, kMillisecond);
  const Analysis analysis = analyze(program.settled());
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_EQ(json["processes"].size(), 2u);
  EXPECT_EQ(json["processes"][1]["rank"], 1);
  EXPECT_EQ(json["kernels"].size(), 3u);
  EXPECT_EQ(json["kernels"][0]["name"], "producer");
  EXPECT_TRUE(json["kernels"][0]["occupancy"]["value"].is_number());
  EXPECT_EQ(json["host_polling"][0]["thread"], 7);
  EXPECT_EQ(json["stream_waits"][0]["behind"], "producer");
  EXPECT_EQ(json["stream_waits"][0]["idle_ns"], 7 * kMillisecond);
  EXPECT_EQ(json["threads"][0]["cpu_ns"], kMillisecond);
  ASSERT_EQ(json["clocks"].size(), 1u);
  EXPECT_EQ(json["clocks"][0]["device"], "cuda:0");
  const std::string text = reports::analysis_text(program.model, analysis, {.verbose = true});
  for (const char* part : {"Kernel ", "producer", "Host polling", "Waiting stream", "Clocks", "cuda:0", "app 1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Activity, WicProfsProcessIsNotPartOfTheProgram) {
  TwoStreams program;
  program.model.processes = {{0x0f, 1, "wic-prof", "wic-prof run -- app", {}, {}, 0},
                             {0x10, 0x0f, "app", "app", {}, {}, 0}};
  const Analysis analysis = analyze(program.settled());
  EXPECT_EQ(program.model.program_processes(), 1u);
  const std::string one = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_EQ(one.find("Process "), std::string::npos) << one;
  EXPECT_EQ(one.find("stream 2 of"), std::string::npos) << one;
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_EQ(json["processes"][0]["own"], true);
  EXPECT_EQ(json["processes"][1]["own"], false);
  program.model.processes.push_back({0x11, 0x10, "app", "app child", {}, {}, 0});
  const std::string two = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_NE(two.find("app child"), std::string::npos) << two;
  EXPECT_EQ(two.find("wic-prof run -- app"), std::string::npos) << two;
}

TEST(Activity, AWideClockBoundIsNotShown) {
  Program program;
  program.launch("k", 1, {10 * kMillisecond, 20 * kMillisecond}, kMillisecond);  // queued for 9 ms
  program.sync(SyncKind::stream, 1, {2 * kMillisecond, 20 * kMillisecond + 3'000});
  const Analysis analysis = analyze(program.settled());
  ASSERT_EQ(analysis.clocks.size(), 1u);
  EXPECT_EQ(analysis.clocks[0].high, 9 * kMillisecond);
  const std::string text = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_NE(text.find("is off by at least -3.00 us; an upper bound is unknown"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(reports::analysis_json(program.model, analysis))["clocks"][0]["high_ns"],
            9 * kMillisecond);
}

TEST(Activity, FitsTheScreen) {
  Program program;
  program.model.devices = {test_devices::h100()};
  const std::string name(300, 'n');
  for (std::uint32_t stream = 1; stream < 4; ++stream) {
    auto kernel = program.launch(name + std::to_string(stream), stream, {kMillisecond, 1000 * kMillisecond}, 900'000);
    kernel.grid[0] = 1'234'567'890;
    kernel.block[0] = 1024;
    kernel.registers_per_thread = 64;
    kernel.dynamic_shared_bytes = 227 * 1024;
  }
  program.event(5, 1, 950'000, 990 * kMillisecond);
  program.stream_wait(2, 5, 960'000);
  program.launch(name, 2, {1001 * kMillisecond, 1002 * kMillisecond}, 970'000);
  program.host_wait(std::string(60, 'c'), {0, 999 * kMillisecond}, 990 * kMillisecond);
  for (int i = 0; i <= 2000; ++i) program.call("cudaEventQuery", 2'147'483'647, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.sample(7, "fifteen letters", {0, kMillisecond}, kMillisecond).run_delay = 900 * kMillisecond;
  program.model.processes = {{0x10, 1, name, name, 0, 0, 0}, {0x11, 1, name, name, 1, 1, 0}};
  const Analysis analysis = analyze(program.settled());
  for (const std::string& text : {reports::analysis_text(program.model, analysis),
                                  reports::analysis_text(program.model, analysis, {.verbose = true}),
                                  reports::summary_text(program.model, analysis)}) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto width = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                       text.begin() + static_cast<std::ptrdiff_t>(end),
                                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
      EXPECT_LE(width, 80) << text.substr(begin, end - begin);
    }
  }
}

TEST(Activity, IsEmptyForAnEmptyTraceOrASingleEvent) {
  TraceModel empty;
  settle(empty);
  const Analysis analysis = analyze(empty);
  const auto json = nlohmann::json::parse(reports::analysis_json(empty, analysis));
  for (const char* list : {"processes", "kernels", "host_waits", "host_polling", "stream_waits", "clocks", "threads"}) {
    EXPECT_TRUE(json[list].empty()) << list;
  }
  for (int which = 0; which < 6; ++which) {
    Program one;
    one.model.devices.clear();
    if (which == 0) one.kernel("", 0, {std::numeric_limits<TimeNs>::max() - 1, std::numeric_limits<TimeNs>::max()});
    if (which == 1) one.call("cudaEventQuery", 0, {0, 0}, 600);
    if (which == 2) one.model.syncs.emplace_back();
    if (which == 3) one.model.cuda_events.emplace_back();
    if (which == 4) one.sample(0, "", {5, 5}, 0);
    if (which == 5) one.model.overheads.emplace_back();
    const Analysis of_one = analyze(one.settled());
    EXPECT_FALSE(reports::analysis_json(one.model, of_one).empty());
    EXPECT_FALSE(reports::analysis_text(one.model, of_one).empty());
    EXPECT_FALSE(reports::analysis_text(one.model, of_one, {.verbose = true}).empty());
  }
}

TEST(DeviceBusy, CountsTimeWithKernelsOrCopiesOnce) {
  Program program;
  program.kernel("a", 1, {0, 40 * kMillisecond});
  program.kernel("b", 2, {30 * kMillisecond, 50 * kMillisecond});
  store::CopyRow copy{};
  copy.start = 60 * kMillisecond;
  copy.end = 70 * kMillisecond;
  program.model.copies.push_back(copy);
  program.kernel("c", 1, {90 * kMillisecond, 100 * kMillisecond});
  const TraceModel& model = program.settled();
  const std::vector<DeviceBusy> devices = device_busy(model, {model.begin, model.end});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].busy_ns, 70 * kMillisecond);
  EXPECT_DOUBLE_EQ(devices[0].idle(), 0.3);
  EXPECT_EQ(device_busy(model, {35 * kMillisecond, 65 * kMillisecond}).at(0).busy_ns, 20 * kMillisecond);
  EXPECT_TRUE(device_busy(Program().settled(), {0, kMillisecond}).empty());
}

/// A program that computes on the CPU and uses neither CUDA nor wic.
Program plain_program() {
  Program program;
  program.model.meta["started_ns"] = std::to_string(1'000 * kMillisecond);
  program.model.meta["ended_ns"] = std::to_string(3'000 * kMillisecond);
  program.sample(7, "work", {1'500 * kMillisecond, 1'600 * kMillisecond}, 90 * kMillisecond);
  return program;
}

TEST(TracedTime, IsTheWholeRunOfAProgramWithoutEvents) {
  Program program = plain_program();
  const TraceModel& model = program.settled();
  EXPECT_EQ(model.begin, 1'000 * kMillisecond);
  EXPECT_EQ(model.end, 3'000 * kMillisecond);
  Program with_kernel = plain_program();
  with_kernel.kernel("k", 1, {1'700 * kMillisecond, 1'800 * kMillisecond});
  EXPECT_EQ(with_kernel.settled().begin, 1'700 * kMillisecond) << "device activity leaves the start-up out";
}

TEST(TracedTime, IsTheRecordedPartOfTheRun) {
  Program program = plain_program();
  program.model.meta["capture_from_ns"] = std::to_string(1'400 * kMillisecond);
  program.model.meta["capture_until_ns"] = std::to_string(2'400 * kMillisecond);
  EXPECT_EQ(program.settled().begin, 1'400 * kMillisecond);
  EXPECT_EQ(program.model.end, 2'400 * kMillisecond);
  program.model.meta["capture_keep_last_ns"] = std::to_string(900 * kMillisecond);
  EXPECT_EQ(program.settled().begin, 1'500 * kMillisecond);
}

TEST(TracedTime, OfARunInProgressReachesTheLastSample) {
  Program program = plain_program();
  program.model.meta.erase("ended_ns");
  EXPECT_EQ(program.settled().begin, 1'000 * kMillisecond);
  EXPECT_EQ(program.model.end, 1'600 * kMillisecond);
  EXPECT_FALSE(recorded_run(program.model));
}

TEST(TracedTime, IgnoresTimesThatCannotBe) {
  for (const char* ended : {"", "x", "-5", "5", "99999999999999999999999"}) {
    Program program = plain_program();
    program.model.meta["ended_ns"] = ended;
    EXPECT_EQ(program.settled().end, 1'600 * kMillisecond) << ended;
  }
}

}  // namespace
}  // namespace wicprof::analyzer
