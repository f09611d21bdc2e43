#include "analyzer/rules/list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/analysis.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

/// The result points into `analysis`.
const Finding* find(const Analysis& analysis, std::string_view rule) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& f) { return f.rule == rule; });
  return found == analysis.findings.end() ? nullptr : &*found;
}

bool refused(const Analysis& analysis, std::string_view rule) {
  return std::any_of(analysis.refusals.begin(), analysis.refusals.end(),
                     [&](const Refusal& r) { return r.rule == rule && !r.reason.empty(); });
}

Analysis of_handoff(const Handoff& handoff, WordMemory memory, std::uint32_t words = 1,
                    Pollers pollers = Pollers::leader) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "flag", memory, words).pollers = pollers;
  add_handoff(model, handoff);
  settle(model);
  return analyze(model);
}

TEST(Rules, HaveUniqueNamesAndDescriptions) {
  std::set<std::string_view> names;
  for (const Rule& rule : kRules) {
    EXPECT_TRUE(names.insert(rule.name).second);
    EXPECT_FALSE(rule.what.empty());
  }
}

TEST(Rules, EveryFindingHasTextEvidenceAndRemedy) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 100});
  model.waits[0].status = WaitStatus::deadline_passed;
  model.stats.push_back(lost(3));
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_GE(analysis.findings.size(), 3u);
  for (const Finding& finding : analysis.findings) {
    EXPECT_FALSE(finding.text.empty());
    EXPECT_FALSE(finding.evidence.empty());
    EXPECT_FALSE(finding.remedy.empty());
  }
  EXPECT_TRUE(std::is_sorted(analysis.findings.begin(), analysis.findings.end(),
                             [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
}

TEST(HotWord, FindsManyPollersOfOneHostWord) {
  const Analysis analysis = of_handoff({.waiters = 528, .sms = 132, .iterations = 4}, WordMemory::pinned_host);
  const Finding* finding = find(analysis, "hot_word");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_EQ(finding->site_name, "flag");
  EXPECT_NE(finding->text.find("528 waiters"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag");
  EXPECT_EQ(find(analysis, "no_gain"), nullptr);
}

/// All texts of the findings about waits of many waiters on a device of this kind and name.
std::string texts_on(DeviceKind kind, const std::string& name, StrategyId strategy) {
  TraceModel model = empty_program();
  model.devices[1].kind = kind;
  model.devices[1].name = name;
  const DeviceId device = kind == DeviceKind::simt ? simt_device(0) : 0;
  model.devices[1].id = device;
  model.sites.clear();
  declare_site(model, 1, "hot", WordMemory::pinned_host);
  declare_site(model, 2, "several", WordMemory::pinned_host, 0);
  declare_site(model, 3, "cold", WordMemory::device);
  for (const SiteId site : {1, 2, 3}) {
    add_handoff(model, {.site = site,
                        .device = device,
                        .waiters = 200,
                        .iterations = 20,
                        .start = TimeNs{site} * 1'000'000'000,
                        .wake_latency = 400'000,
                        .strategy = strategy});
  }
  for (auto& wait : model.waits) wait.word = wait.site;
  settle(model);
  std::string texts;
  for (const Finding& finding : analyze(model).findings) texts += finding.text + "\n" + finding.evidence + "\n";
  return texts;
}

// A factor that was measured on one GPU is no property of a program that ran elsewhere.
TEST(Rules, QuoteFiguresOfAnH200OnlyToProgramsThatRanOnOne) {
  for (const StrategyId strategy : {StrategyId::poll, StrategyId::naive}) {
    const std::string h200 = texts_on(DeviceKind::cuda, "NVIDIA H200", strategy);
    EXPECT_NE(h200.find("measured on an H200: "), std::string::npos) << h200;
    EXPECT_EQ(h200.find("not measured"), std::string::npos) << h200;
    const std::string other = texts_on(DeviceKind::cuda, "NVIDIA A100", strategy);
    EXPECT_NE(other.find("what this costs on NVIDIA A100 was not measured"), std::string::npos) << other;
    const std::string cpu = texts_on(DeviceKind::simt, "the CPU device", strategy);
    EXPECT_NE(cpu.find("the CPU device does not model a GPU's performance"), std::string::npos) << cpu;
    for (const std::string& texts : {other, cpu}) {
      for (const char* figure :
           {"measured on an H200", "factor of 100", "49 times", "1.39 times", "366 us", "1 to 4 us"})
        EXPECT_EQ(texts.find(figure), std::string::npos) << figure << " in\n" << texts;
    }
    EXPECT_EQ(cpu.find("H200"), std::string::npos) << cpu;
  }
}

TEST(HotWord, FewerPollersAreLessSevere) {
  const Analysis analysis = of_handoff({.waiters = 12, .iterations = 4}, WordMemory::pinned_host);
  ASSERT_NE(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "hot_word")->severity, Severity::warning);
}

TEST(HotWord, IgnoresSeparateWords) {
  const Analysis analysis = of_handoff({.waiters = 528, .iterations = 4}, WordMemory::pinned_host, 0);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_NE(find(analysis, "no_gain"), nullptr);
}

TEST(HotWord, IgnoresParkedWaiters) {
  const Analysis analysis =
      of_handoff({.waiters = 528, .iterations = 4, .strategy = StrategyId::shared_watch}, WordMemory::pinned_host);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "no_gain"), nullptr);  // polling would cost, so parking does gain
}

TEST(HotWord, IgnoresSomeHundredLeadersOnADeviceWord) {
  const Analysis analysis = of_handoff({.waiters = 528, .iterations = 4}, WordMemory::device);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  ASSERT_NE(find(analysis, "no_gain"), nullptr);
  EXPECT_EQ(find(analysis, "no_gain")->severity, Severity::info);
}

TEST(HotWord, FindsThreadsThatAllPollADeviceWord) {
  const Analysis many =
      of_handoff({.waiters = 192, .sms = 4, .iterations = 4}, WordMemory::device, 1, Pollers::each_thread);
  ASSERT_NE(find(many, "hot_word"), nullptr);
  EXPECT_EQ(find(many, "hot_word")->severity, Severity::critical);
  const Analysis few =
      of_handoff({.waiters = 4, .sms = 4, .iterations = 4}, WordMemory::device, 1, Pollers::each_thread);
  EXPECT_EQ(find(few, "hot_word"), nullptr);
}

TEST(HotWord, QuotesSiteNamesForTheShell) {
  TraceModel model = empty_program();
  model.sites[0].name = "halo $(reboot)";
  add_handoff(model, {.waiters = 100});
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "hot_word")->remedy, "wic-prof toggle park --site 'halo $(reboot)'");
}

TEST(NoGain, FindsRareWaiting) {
  TraceModel model = empty_program();
  // Three short iterations, then one of 10 s in which the waits take no longer.
  add_handoff(model, {.waiters = 100, .iterations = 5, .period = [](std::size_t) { return TimeNs{1'000'000}; }});
  for (auto& wait : model.waits) {
    if (wait.iteration < 4) continue;
    wait.arrived += 10'000'000'000;
    wait.resumed += 10'000'000'000;
  }
  settle(model);
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "no_gain");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("parking will gain nothing at flag"), std::string::npos);
  EXPECT_NE(finding->text.find("tiny part"), std::string::npos);
}

TEST(DeadlineMissed, NamesTheSiteTheCountAndTheIteration) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 2, .iterations = 10});
  for (auto& wait : model.waits) {
    if (wait.iteration >= 8) wait.status = WaitStatus::deadline_passed;
  }
  settle(model);
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "deadline_missed");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("4 waits at flag"), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("iteration 8"), std::string::npos) << finding->evidence;
}

TEST(DeadlineMissed, IgnoresSatisfiedWaits) {
  const Analysis analysis = of_handoff({}, WordMemory::device);
  EXPECT_EQ(find(analysis, "deadline_missed"), nullptr);
}

TEST(DataLost, CountsAndWarns) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  model.stats.push_back({"ring_events", "", store::StatRow::Severity::info, 1000});
  settle(model);
  EXPECT_EQ(find(analyze(model), "data_lost"), nullptr);
  EXPECT_TRUE(analyze(model).loss.empty());
  model.stats.push_back(lost(400));
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "data_lost"), nullptr);
  EXPECT_EQ(find(analysis, "data_lost")->severity, Severity::critical);
  ASSERT_EQ(analysis.loss.size(), 1u);
  EXPECT_EQ(analysis.loss[0].count, 400);
}

store::NoticeRow notice(NoticeSeverity severity, std::string text, TimeNs at) {
  store::NoticeRow row;
  row.severity = severity;
  row.text = std::move(text);
  row.at = at;
  return row;
}

TEST(Notices, FurtherTextsAreCounted) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  for (int i = 0; i < 23; ++i)
    model.notices.push_back(notice(NoticeSeverity::info, "notice " + std::to_string(i), 10 + i));
  settle(model);
  const Analysis analysis = analyze(model);
  std::vector<std::string> texts;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == "notices") texts.push_back(finding.text);
  }
  ASSERT_EQ(texts.size(), 21u);
  EXPECT_EQ(texts[0], "3 notices with further texts are not shown");
}

TEST(Notices, BecomeOneFindingPerText) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  model.notices = {notice(NoticeSeverity::warning, "a toggle failed: no memory", 30),
                   notice(NoticeSeverity::error, "the waiters of site 1 were released", 20),
                   notice(NoticeSeverity::info, "a toggle failed: no memory", 10)};
  settle(model);
  const Analysis analysis = analyze(model);
  std::vector<const Finding*> notices;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == "notices") notices.push_back(&finding);
  }
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[0]->text, "the waiters of site 1 were released");
  EXPECT_EQ(notices[0]->severity, Severity::critical);
  EXPECT_EQ(notices[1]->text, "a toggle failed: no memory");
  EXPECT_EQ(notices[1]->severity, Severity::warning);
  EXPECT_NE(notices[1]->evidence.find("2 times"), std::string::npos) << notices[1]->evidence;
}

TEST(DataLost, CountsSamplesAmongTheKeptRecords) {
  TraceModel model = empty_program();
  store::PcIntervalRow interval{};
  interval.samples = 1'000'400;
  interval.dropped = 400;
  model.pc_intervals.push_back(interval);
  model.stats.push_back(lost(400));
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "data_lost"), nullptr);
  EXPECT_EQ(find(analysis, "data_lost")->severity, Severity::warning) << find(analysis, "data_lost")->text;
}

TEST(DataLost, ReportsAnUnfinishedTrace) {
  TraceModel model = empty_program();
  model.meta["state"] = "recording";
  add_handoff(model, {});
  settle(model);
  EXPECT_FALSE(model.complete);
  const Analysis analysis = analyze(model);
  EXPECT_NE(find(analysis, "data_lost"), nullptr);
  ASSERT_EQ(analysis.loss.size(), 1u);
  EXPECT_EQ(analysis.loss[0].name, "incomplete");
}

TraceModel host_program(double cpu_share) {
  TraceModel model = empty_program();
  for (int i = 0; i < 10; ++i) {
    store::HostWaitRow wait{};
    wait.call = "cudaDeviceSynchronize";
    wait.begin = i * 1'000'000;
    wait.end = wait.begin + 900'000;
    wait.cpu = static_cast<TimeNs>(cpu_share * 900'000);
    model.host_waits.push_back(wait);
  }
  settle(model);
  return model;
}

TEST(HostSpin, DistinguishesSpinningFromSleeping) {
  const Analysis spinning = analyze(host_program(0.98));
  ASSERT_NE(find(spinning, "host_spin"), nullptr);
  EXPECT_NE(find(spinning, "host_spin")->text.find("cudaDeviceSynchronize"), std::string::npos);
  EXPECT_NE(find(spinning, "host_spin")->remedy.find("cudaDeviceScheduleBlockingSync"), std::string::npos);
  const Analysis sleeping = analyze(host_program(0.02));
  EXPECT_EQ(find(sleeping, "host_spin"), nullptr);
}

TEST(HostSpin, RefusesWithoutCpuTimes) {
  TraceModel model = host_program(1);
  for (auto& wait : model.host_waits) wait.cpu.reset();
  const Analysis analysis = analyze(model);
  EXPECT_EQ(find(analysis, "host_spin"), nullptr);
  EXPECT_TRUE(refused(analysis, "host_spin"));
}

TEST(Rules, RefuseAnEmptyTrace) {
  TraceModel model = empty_program();
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_TRUE(analysis.findings.empty());
  for (const char* rule : {"hot_word", "no_gain", "deadline_missed", "host_spin"})
    EXPECT_TRUE(refused(analysis, rule)) << rule;
}

TEST(Rules, RefuseASiteWithoutDeclaration) {
  TraceModel model = empty_program();
  model.sites.clear();
  add_handoff(model, {.waiters = 100});
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_TRUE(refused(analysis, "hot_word"));
}

// Waiters at one site in host memory, on words with distinct tags.
TraceModel tagged_program(std::uint32_t waiters, std::uint32_t distinct_words) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "flag", WordMemory::pinned_host, 0);
  add_handoff(model, {.waiters = waiters, .iterations = 4});
  for (auto& wait : model.waits) wait.word = static_cast<WordTag>(1 + wait.block % distinct_words);
  settle(model);
  return model;
}

TEST(SharedHostLine, FindsManyWaitersOnOneOfManyDeclaredWords) {
  const Analysis analysis = analyze(tagged_program(64, 1));
  const Finding* finding = find(analysis, "shared_host_line");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("up to 64 waiters"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag --strategy shared_watch");
  EXPECT_EQ(find(analyze(tagged_program(64, 64)), "shared_host_line"), nullptr);
}

TEST(SharedHostLine, FindsManySitesWithFewWaitersEach) {
  TraceModel model = empty_program();
  declare_site(model, 2, "other", WordMemory::pinned_host);
  for (const SiteId site : {1u, 2u}) add_handoff(model, {.site = site, .waiters = 6, .iterations = 4});
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "shared_host_line"), nullptr);
  EXPECT_EQ(find(analysis, "shared_host_line")->severity, Severity::info);
  for (auto& wait : model.waits) wait.strategy = StrategyId::shared_watch;
  EXPECT_EQ(find(analyze(model), "shared_host_line"), nullptr);
}

TEST(SharedHostLine, RefusesWaitsWithoutWordTags) {
  EXPECT_TRUE(refused(of_handoff({.waiters = 64}, WordMemory::pinned_host, 0), "shared_host_line"));
  TraceModel model = empty_program();
  settle(model);
  EXPECT_TRUE(refused(analyze(model), "shared_host_line"));
}

TEST(AtomicPolls, FindsASiteThatPollsByAtomics) {
  const Analysis analysis =
      of_handoff({.waiters = 1200, .iterations = 3, .strategy = StrategyId::naive}, WordMemory::device);
  const Finding* finding = find(analysis, "atomic_polls");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->text.find("flag"), std::string::npos);
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag --strategy auto");
  EXPECT_EQ(
      find(of_handoff({.waiters = 4, .strategy = StrategyId::naive}, WordMemory::device), "atomic_polls")->severity,
      Severity::info);
  EXPECT_EQ(find(of_handoff({.waiters = 1200, .iterations = 3}, WordMemory::device), "atomic_polls"), nullptr);
}

TEST(AtomicPolls, RefusesWithoutWaitsAndInstructions) {
  TraceModel model = empty_program();
  settle(model);
  EXPECT_TRUE(refused(analyze(model), "atomic_polls"));
}

/// Waiters that arrive `step` apart; the first one waits for 800 us of each millisecond.
TraceModel staggered(TimeNs step, StrategyId strategy) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 8, .iterations = 20, .strategy = strategy});
  for (auto& wait : model.waits) wait.arrived += wait.block * step;
  settle(model);
  return model;
}

TEST(EarlyPolling, CountsPollingBesideUnfinishedWork) {
  // They arrive 0, 100, ... 700 us into 800 us and resume 1.5 us later: of 3,612 us of polling per iteration, 2,800 us
  // come before the last arrival.
  const Analysis analysis = analyze(staggered(100'000, StrategyId::poll));
  const Finding* finding = find(analysis, "early_polling");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("77.5 %"), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("160 waits in 20 iterations"), std::string::npos) << finding->evidence;
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag --strategy shared_watch");
}

TEST(EarlyPolling, IgnoresWaitersThatArriveTogetherOrPark) {
  EXPECT_EQ(find(analyze(staggered(100, StrategyId::poll)), "early_polling"), nullptr);
  EXPECT_EQ(find(analyze(staggered(100'000, StrategyId::leader_bar_sync)), "early_polling"), nullptr);
}

TEST(EarlyPolling, ARepeatedNumberIsAnotherIteration) {
  // Every iteration has the number 3; each ends before the next begins.
  TraceModel model = staggered(100, StrategyId::poll);
  for (auto& wait : model.waits) wait.iteration = 3;
  settle(model);
  EXPECT_EQ(find(analyze(model), "early_polling"), nullptr);
}

TEST(LateWake, IgnoresLatencyWithinTheClocksError) {
  TraceModel model = empty_program();
  add_handoff(model, {.wake_latency = 300'000});
  settle(model);
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "late_wake");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("300 us"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag --strategy shared_watch");
  model.devices[1].clock_error_ns = 290'000;
  EXPECT_EQ(find(analyze(model), "late_wake"), nullptr);
  EXPECT_EQ(find(of_handoff({}, WordMemory::device), "late_wake"), nullptr);
}

TEST(LateWake, RefusesWithoutSignalsOrClocks) {
  TraceModel model = empty_program();
  add_handoff(model, {.wake_latency = 300'000});
  settle(model);
  TraceModel silent = model;
  silent.signals.clear();
  EXPECT_TRUE(refused(analyze(silent), "late_wake"));
  model.devices[1].clock_error_ns.reset();
  EXPECT_TRUE(refused(analyze(model), "late_wake"));
}

/// Ten rounds of a copy of 400 us and a kernel of 600 us, which starts `after` the start of the copy.
TraceModel copying_program(TimeNs after) {
  test_program::Program program;
  for (int i = 0; i < 10; ++i) {
    const TimeNs begin = 1'000'000 + i * 1'000'000;
    store::CopyRow copy{};
    copy.kind = CopyKind::host_to_device;
    copy.start = begin;
    copy.end = begin + 400'000;
    copy.bytes = 1 << 20;
    copy.source = CopyMemory::pageable;
    copy.stream = 8;
    program.model.copies.push_back(copy);
    program.kernel("work", 7, {begin + after, begin + after + 600'000});
  }
  return program.settled();
}

TEST(ExposedTransfer, CountsCopiesWithoutConcurrentKernels) {
  const Analysis analysis = analyze(copying_program(400'000));
  const Finding* finding = find(analysis, "exposed_transfer");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("for 4.00 ms, 40.0 %"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("cudaMallocHost"), std::string::npos);
  EXPECT_EQ(find(analyze(copying_program(0)), "exposed_transfer"), nullptr);
}

TEST(ExposedTransfer, RefusesWithoutCopiesOrKernels) {
  TraceModel model = copying_program(0);
  TraceModel other = model;
  model.copies.clear();
  other.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "exposed_transfer"));
  EXPECT_TRUE(refused(analyze(other), "exposed_transfer"));
}

/// A block of managed memory that moves `moves` times, once per millisecond for 100 us, to the device and back.
TraceModel migrating_program(int moves) {
  test_program::Program program;
  program.kernel("work", 7, {0, 10'000'000});
  for (int i = 0; i < moves; ++i) {
    store::UvmRow row;
    row.kind = i % 2 == 0 ? UvmKind::host_to_device : UvmKind::device_to_host;
    row.device = i % 2 == 0 ? 0 : kHostDevice;
    row.address = 0x7f0000000000 + 4096u * static_cast<unsigned>(i);
    row.bytes = 65'536;
    row.start = i * 1'000'000;
    row.end = row.start + 100'000;
    program.model.uvm.push_back(row);
  }
  return program.settled();
}

TEST(ManagedPingPong, NeedsSeveralRoundTrips) {
  const Analysis analysis = analyze(migrating_program(9));
  const Finding* finding = find(analysis, "managed_ping_pong");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("1 block of 2 MiB moved 8 times"), std::string::npos) << finding->text;
  EXPECT_EQ(find(analyze(migrating_program(3)), "managed_ping_pong"), nullptr);
  EXPECT_TRUE(refused(analyze(migrating_program(0)), "managed_ping_pong"));
}

/// A kernel of a millisecond, which may wait, and code that is loaded at `at`.
TraceModel loading_program(TimeNs at, bool waits) {
  TraceModel model = empty_program();
  if (waits) add_handoff(model, {.waiters = 1, .iterations = 1, .start = 100'000});
  test_program::Program program;
  program.kernel("waiting_kernel", 7, {50'000, 1'200'000});
  model.kernels = program.model.kernels;
  store::OverheadRow overhead;
  overhead.what = "lazy function loading";
  overhead.start = at;
  overhead.end = at + 10'000;
  model.overheads.push_back(overhead);
  settle(model);
  return model;
}

TEST(ModuleLoading, WarnsBesideAWaitingKernel) {
  const Analysis analysis = analyze(loading_program(500'000, true));
  const Finding* finding = find(analysis, "module_loading");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->text.find("waiting_kernel"), std::string::npos);
  EXPECT_NE(finding->remedy.find("CUDA_MODULE_LOADING=EAGER"), std::string::npos);
  EXPECT_EQ(find(analyze(loading_program(500'000, false)), "module_loading")->severity, Severity::info);
  EXPECT_EQ(find(analyze(loading_program(10'000, true)), "module_loading"), nullptr);
  TraceModel model = loading_program(500'000, true);
  model.overheads.clear();
  EXPECT_TRUE(refused(analyze(model), "module_loading"));
}

/// A device of 10 SMs, each of which holds 4 blocks of 256 threads.
store::DeviceRow small_gpu() {
  store::DeviceRow device{};
  device.kind = DeviceKind::cuda;
  device.name = "GPU 0";
  device.sm_count = 10;
  device.compute_major = 9;
  device.max_threads_per_sm = 1024;
  device.max_blocks_per_sm = 32;
  device.registers_per_sm = 65'536;
  device.shared_bytes_per_sm = 228 * 1024;
  device.clock_error_ns = 100;
  return device;
}

void shape(store::KernelRow& kernel, std::uint32_t blocks) {
  kernel.grid[0] = blocks;
  kernel.block[0] = 256;
  kernel.registers_per_thread = 32;
}

TraceModel resident_program(std::uint32_t blocks) {
  TraceModel model = empty_program();
  model.devices[1] = small_gpu();
  add_handoff(model, {.waiters = 8, .iterations = 4, .start = 100'000});
  test_program::Program program;
  shape(program.kernel("waiting_kernel", 7, {50'000, 9'000'000}), blocks);
  model.kernels = program.model.kernels;
  settle(model);
  return model;
}

TEST(CoResidency, FindsAWaitingKernelThatDoesNotFit) {
  const Analysis analysis = analyze(resident_program(50));
  const Finding* finding = find(analysis, "co_residency");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->site_name, "flag");
  EXPECT_NE(finding->evidence.find("1.25 waves"), std::string::npos) << finding->evidence;
  EXPECT_NE(finding->remedy.find("at most 40 blocks"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("wic-prof toggle park --site flag"), std::string::npos);
  EXPECT_EQ(find(analyze(resident_program(40)), "co_residency"), nullptr);
}

TEST(CoResidency, RefusesWithoutTheDevicesLimits) {
  TraceModel model = resident_program(50);
  model.devices[1].max_threads_per_sm = 0;
  EXPECT_TRUE(refused(analyze(model), "co_residency"));
  model.waits.clear();
  EXPECT_TRUE(refused(analyze(model), "co_residency"));
}

/// Two kernels that alternate on one stream, `gap` apart; the first has `blocks` blocks.
TraceModel two_kernels(std::uint32_t blocks, TimeNs gap, std::uint32_t successors_blocks = 40) {
  test_program::Program program;
  program.model.devices = {small_gpu()};
  for (int i = 0; i < 10; ++i) {
    const TimeNs begin = i * 1'000'000;
    shape(program.kernel("produce", 7, {begin, begin + 600'000}), blocks);
    shape(program.kernel("consume", 7, {begin + 600'000 + gap, begin + 900'000}), successors_blocks);
  }
  return program.settled();
}

TEST(UnderfilledWave, FindsADirectSuccessor) {
  const Analysis analysis = analyze(two_kernels(50, 2'000));
  const Finding* finding = find(analysis, "underfilled_wave");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("the last wave of produce fills 25.0 %"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("consume cannot start"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("a multiple of 40"), std::string::npos) << finding->remedy;
  EXPECT_EQ(find(analyze(two_kernels(80, 2'000)), "underfilled_wave"), nullptr);    // whole waves
  EXPECT_EQ(find(analyze(two_kernels(50, 200'000)), "underfilled_wave"), nullptr);  // no ready successor
}

TEST(UnderfilledWave, NamesTheOtherRuleOnlyWhereItHasAFinding) {
  // What an earlier start gains depends on the successor's waves, which this rule does not look at.
  std::size_t with = 0, without = 0;
  for (const std::uint32_t blocks : {10u, 40u, 80u, 120u}) {
    const Analysis analysis = analyze(two_kernels(50, 2'000, blocks));
    const Finding* finding = find(analysis, "underfilled_wave");
    ASSERT_NE(finding, nullptr);
    const bool named = finding->remedy.find("see dependent_kernels") != std::string::npos;
    EXPECT_EQ(named, find(analysis, "dependent_kernels") != nullptr) << blocks;
    ++(named ? with : without);
  }
  EXPECT_GT(with, 0u);
  EXPECT_GT(without, 0u);
}

TEST(DependentKernels, NamesPairsWithTheirBounds) {
  const Analysis analysis = analyze(two_kernels(50, 2'000, 80));
  const Finding* finding = find(analysis, "dependent_kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("consume starts only when all of produce is done"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("(0 to "), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("1.25 waves, the last one 25.0 % full"), std::string::npos) << finding->evidence;
  EXPECT_NE(finding->evidence.find("the trace does not show what consume reads"), std::string::npos);
  EXPECT_NE(finding->remedy.find("if consume reads the results of produce"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("wic/tiles.h"), std::string::npos) << finding->remedy;
  // The blocks of a single wave that have no place early start at the producer's end, and end last.
  EXPECT_EQ(find(analyze(two_kernels(50, 2'000, 40)), "dependent_kernels"), nullptr);
  EXPECT_EQ(find(analyze(two_kernels(80, 2'000, 80)), "dependent_kernels"), nullptr);     // whole waves, a short gap
  EXPECT_EQ(find(analyze(two_kernels(50, 200'000, 80)), "dependent_kernels"), nullptr);   // no ready successor
  EXPECT_EQ(find(analyze(two_kernels(50, -100'000, 80)), "dependent_kernels"), nullptr);  // it starts early
}

TEST(DependentKernels, OfShortKernelsOnlyTheGapCounts) {
  test_program::Program program;
  program.model.devices = {small_gpu()};
  for (int i = 0; i < 100; ++i) {
    const TimeNs begin = i * 10'000;
    shape(program.kernel("step", 7, {begin + 1, begin + 8'000}), 8);
  }
  const Analysis analysis = analyze(program.settled());
  const Finding* finding = find(analysis, "dependent_kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->remedy.find("programmatic dependent launch"), std::string::npos) << finding->remedy;
}

TEST(DependentKernels, RefusesWithoutKernelsOrLimits) {
  TraceModel model = two_kernels(50, 2'000);
  model.devices[0].sm_count = 0;
  EXPECT_TRUE(refused(analyze(model), "dependent_kernels"));
  model.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "dependent_kernels"));
}

TEST(UnderfilledWave, RefusesWithoutKernelsOrLimits) {
  TraceModel model = two_kernels(50, 2'000);
  model.devices[0].sm_count = 0;
  EXPECT_TRUE(refused(analyze(model), "underfilled_wave"));
  model.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "underfilled_wave"));
}

/// Sixty-four waiters on one word in host memory, polled for the first half and parked for the second.
TraceModel polled_then_parked() {
  TraceModel model = empty_program();
  Handoff polled{.waiters = 64, .iterations = 20};
  Handoff parked = polled;
  parked.start = add_handoff(model, polled);
  parked.first_iteration = 20;
  parked.strategy = StrategyId::shared_watch;
  parked.period = [](std::size_t) { return TimeNs{250'000}; };
  add_handoff(model, parked);
  settle(model);
  return model;
}

TEST(SiteAdvice, KnowsWhatWasTriedAndWhatItBrought) {
  const Analysis analysis = analyze(polled_then_parked());
  const Finding* finding = find(analysis, "hot_word");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->remedy.find("wic-prof toggle"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("tried in this trace"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("801 us polled and 201 us parked (shared_watch)"), std::string::npos)
      << finding->remedy;
}

// Twenty phases of each mode, a quarter of the time apart: the advice says what parking brought the program.
TEST(SiteAdvice, NamesTheVerdictWhereTheTraceHasOne) {
  TraceModel model = empty_program();
  Handoff phase{.waiters = 64, .iterations = 5};
  std::string phases;
  for (int i = 0; i < 40; ++i) {
    const bool parked = i % 2 == 1;
    phase.strategy = parked ? StrategyId::shared_watch : StrategyId::poll;
    phase.period = [parked](std::size_t k) { return TimeNs{parked ? 250'000 : 1'000'000} + static_cast<TimeNs>(k); };
    const TimeNs begin = phase.start;
    phase.start = add_handoff(model, phase);
    phase.first_iteration += 5;
    phases += fmt::format("{}{}:{}:{}", i == 0 ? "" : ",", parked ? "park" : "poll", begin, phase.start);
  }
  model.meta["ab_phases"] = phases;
  settle(model);
  const Finding* finding = nullptr;
  const Analysis analysis = analyze(model);
  ASSERT_NE(finding = find(analysis, "hot_word"), nullptr);
  EXPECT_NE(finding->remedy.find("tried in this trace, improvement: an iteration takes"), std::string::npos)
      << finding->remedy;
}

TEST(SiteAdvice, ALateWakeWherePollingCostsNothingIsNotToBeParked) {
  TraceModel model = empty_program();
  model.sites[0].word_memory = WordMemory::device;
  add_handoff(model, {.waiters = 4, .wake_latency = 300'000});
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "late_wake"), nullptr);
  ASSERT_NE(find(analysis, "no_gain"), nullptr);
  EXPECT_NE(find(analysis, "late_wake")->remedy.find("none by parking"), std::string::npos);
}

TEST(SiteAdvice, NoSiteHasTwoPiecesOfAdvice) {
  // Any layout: what a finding advises at a site, no other finding of that site contradicts.
  for (const WordMemory memory : {WordMemory::device, WordMemory::pinned_host}) {
    for (const StrategyId strategy :
         {StrategyId::poll, StrategyId::naive, StrategyId::backoff, StrategyId::shared_watch}) {
      for (const std::uint32_t waiters : {2u, 64u, 600u}) {
        for (const TimeNs late : {1'500, 300'000}) {
          TraceModel model = empty_program();
          model.sites[0].word_memory = memory;
          add_handoff(model, {.waiters = waiters, .iterations = 12, .wake_latency = late, .strategy = strategy});
          settle(model);
          std::set<std::string> commands;
          bool leave = false;
          for (const Finding& finding : analyze(model).findings) {
            if (finding.site != 1) continue;
            if (finding.remedy.rfind("wic-prof toggle park", 0) == 0) commands.insert(finding.remedy);
            leave = leave || finding.rule == "no_gain";
          }
          EXPECT_LE(commands.size() + (leave ? 1 : 0), 1u) << "memory " << int(memory) << " strategy " << int(strategy)
                                                           << " waiters " << waiters << " late " << late;
        }
      }
    }
  }
}

TEST(Ground, StartUpIsNoPartOfShares) {
  // A tenth of a second of copies before iterations that take 8 ms in all.
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 4, .iterations = 8});
  const TimeNs begin = model.waits.front().arrived;
  for (int i = 0; i < 10; ++i) {
    store::CopyRow copy{};
    copy.device = 0;
    copy.kind = CopyKind::host_to_device;
    copy.start = begin - 100'000'000 + i * 10'000'000;
    copy.end = copy.start + 9'000'000;
    copy.bytes = 1 << 20;
    model.copies.push_back(copy);
  }
  store::KernelRow kernel{};
  kernel.device = 0;
  kernel.name = "work";
  kernel.start = begin;
  kernel.end = begin + 8'000'000;
  model.kernels.push_back(kernel);
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_EQ(analysis.sites.size(), 1u);
  EXPECT_GT(analysis.sites[0].any_share, 0.7);
  EXPECT_LE(analysis.sites[0].any_share, 1.0);
  EXPECT_GT(analysis.sites[0].share, 0.7);
  EXPECT_EQ(find(analysis, "exposed_transfer"), nullptr);
  EXPECT_LE(analysis.path.length_ns, 8'100'000);
}

}  // namespace
}  // namespace wicprof::analyzer
