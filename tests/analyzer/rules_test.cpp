#include "analyzer/rules/list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/analysis.h"
#include "findings.h"
#include "program.h"
#include "sampled_program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

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
  model.waits.edit(0)->status = WaitStatus::deadline_passed;
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
  EXPECT_EQ(finding->remedy, "wic-prof run --ab -- synthetic --iterations 50");
  EXPECT_EQ(finding->command, finding->remedy);
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
  model.waits.edit_all([&](auto& wait) { wait.word = wait.site; });
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
  model.complete = false;  // it runs: nothing has to be started again
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "hot_word")->remedy, "wic-prof toggle park --site 'halo $(reboot)'");
  model.complete = true;
  model.meta["command"] = "app 'a b' $(reboot)";
  const Analysis ended = analyze(model);
  EXPECT_EQ(find(ended, "hot_word")->remedy, "wic-prof run --ab -- app 'a b' '$(reboot)'");
  model.meta.erase("command");
  const Analysis unknown = analyze(model);
  EXPECT_EQ(find(unknown, "hot_word")->remedy, "wic-prof toggle park --site 'halo $(reboot)'");
}

TEST(NoGain, FindsRareWaiting) {
  TraceModel model = empty_program();
  // Three short iterations, then one of 10 s in which the waits take no longer.
  add_handoff(model, {.waiters = 100, .iterations = 5, .period = [](std::size_t) { return TimeNs{1'000'000}; }});
  model.waits.edit_all([&](auto& wait) {
    if (wait.iteration < 4) return;
    wait.arrived += 10'000'000'000;
    wait.resumed += 10'000'000'000;
  });
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
  model.waits.edit_all([&](auto& wait) {
    if (wait.iteration >= 8) wait.status = WaitStatus::deadline_passed;
  });
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
  // Notices that are no failures do not become one by their number.
  EXPECT_EQ(texts[20], "3 notices with further texts are not shown");
}

TEST(Notices, KernelsOfMachineCodeAreOneFinding) {
  TraceModel model = polling_program();
  for (int i = 0; i < 50; ++i) {
    model.notices.push_back(
        notice(NoticeSeverity::info,
               "rewrite: kernel void k" + std::to_string(i) + "(int*) stays as it is: its module has machine code only",
               10 + i));
  }
  for (const char* const total : {"178 in modules: 3", "1 in modules: 1"}) {  // of two processes
    model.notices.push_back(
        notice(NoticeSeverity::info, std::string("rewrite: kernels of machine code only: ") + total, 70));
  }
  settle(model);
  const auto found_in = [](const Analysis& analysis) {
    std::vector<Finding> found;
    for (const Finding& finding : analysis.findings) {
      if (finding.rule == "notices") found.push_back(finding);
    }
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Finding() : found[0];
  };
  const std::string what = "not patched, since it is machine code only: 178 kernels of 3 modules; ";
  const Finding others = found_in(analyze(model));
  EXPECT_EQ(others.severity, Severity::info);
  EXPECT_EQ(others.text, what + "none of those named waited, by samples");
  EXPECT_TRUE(others.evidence.ends_with(", and 30 more")) << others.evidence;
  model.notices.push_back(
      notice(NoticeSeverity::info, "rewrite: kernel poll stays as it is: its module has machine code only", 80));
  EXPECT_EQ(found_in(analyze(model)).text, what + "by samples, these waited: poll");
  model.pc_totals.clear();
  EXPECT_EQ(found_in(analyze(model)).text, what + "without samples, nothing shows whether they waited");
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

TEST(DataLost, ProducersWithoutRoomAreNoRecords) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  model.stats.push_back({"producers_refused", "", store::StatRow::Severity::data_loss, 12});
  settle(model);
  const Analysis analysis = analyze(model);
  const Finding* const finding = find(analysis, "data_lost");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("12 parts of the program are not recorded"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("--buffer-size"), std::string::npos);
  EXPECT_EQ(analysis.loss.size(), 1u);
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
  EXPECT_EQ(find(spinning, "host_spin")->remedy, "wic-prof run --ab --side host -- synthetic --iterations 50");
  const Analysis sleeping = analyze(host_program(0.02));
  EXPECT_EQ(find(sleeping, "host_spin"), nullptr);
}

TEST(HostSpin, SaysHowManyCpusAreBusy) {
  const Analysis spinning = analyze(host_program(0.98));
  const std::optional<Cost> cost = find(spinning, "host_spin")->cost;
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->unit, Cost::Unit::cpus);
  EXPECT_NEAR(cost->amount, 0.89, 0.03);
}

TEST(HostSpin, HasNoAdviceInCppForPython) {
  TraceModel model = host_program(0.98);
  model.meta.erase("command");
  const auto remedy = [&] {
    const Analysis analysis = analyze(model);
    return find(analysis, "host_spin")->remedy;
  };
  EXPECT_NE(remedy().find("cudaSetDeviceFlags"), std::string::npos) << remedy();
  model.meta["app"] = "/usr/bin/python3.11";
  EXPECT_EQ(remedy().find("cudaSetDeviceFlags"), std::string::npos) << remedy();
}

TEST(HostSpin, DoesNotRepeatAComparison) {
  TraceModel model = host_program(0.98);
  model.meta["ab_phases"] = "poll:0:1000,park:1000:2000";
  model.meta["ab_side"] = "host";
  const Analysis compared = analyze(model);
  EXPECT_TRUE(find(compared, "host_spin")->command.empty());
  model.meta["ab_side"] = "device";
  const Analysis other = analyze(model);
  EXPECT_EQ(find(other, "host_spin")->command, "wic-prof run --ab --side host -- synthetic --iterations 50");
}

TEST(HostSpin, ATrifleIsForInformation) {
  TraceModel model = host_program(0.98);
  model.host_waits = {model.host_waits.front()};
  model.end = 200'000'000;  // 0.9 ms of them
  const Analysis analysis = analyze(model);
  const Finding* finding = find(analysis, "host_spin");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(finding->negligible());
  EXPECT_EQ(finding->severity, Severity::info);
  EXPECT_EQ(finding, &analysis.findings.back());
}

TEST(HostSpin, RefusesWithoutCpuTimes) {
  TraceModel model = host_program(1);
  model.host_waits.edit_all([&](auto& wait) { wait.cpu.reset(); });
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
  model.waits.edit_all([&](auto& wait) { wait.word = static_cast<WordTag>(1 + wait.block % distinct_words); });
  settle(model);
  return model;
}

TEST(SharedHostLine, FindsManyWaitersOnOneOfManyDeclaredWords) {
  const Analysis analysis = analyze(tagged_program(64, 1));
  const Finding* finding = find(analysis, "shared_host_line");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("up to 64 waiters"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->remedy, "wic-prof run --ab --strategy shared_watch -- synthetic --iterations 50");
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
  model.waits.edit_all([&](auto& wait) { wait.strategy = StrategyId::shared_watch; });
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
  EXPECT_EQ(finding->remedy, "wic-prof run --ab --strategy auto -- synthetic --iterations 50");
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
  model.waits.edit_all([&](auto& wait) { wait.arrived += wait.block * step; });
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
  EXPECT_EQ(finding->remedy, "wic-prof run --ab --strategy shared_watch -- synthetic --iterations 50");
}

TEST(EarlyPolling, IgnoresWaitersThatArriveTogetherOrPark) {
  EXPECT_EQ(find(analyze(staggered(100, StrategyId::poll)), "early_polling"), nullptr);
  EXPECT_EQ(find(analyze(staggered(100'000, StrategyId::leader_bar_sync)), "early_polling"), nullptr);
}

TEST(EarlyPolling, ARepeatedNumberIsAnotherIteration) {
  // Every iteration has the number 3; each ends before the next begins.
  TraceModel model = staggered(100, StrategyId::poll);
  model.waits.edit_all([&](auto& wait) { wait.iteration = 3; });
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
  EXPECT_EQ(finding->remedy, "wic-prof run --ab --strategy shared_watch -- synthetic --iterations 50");
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

}  // namespace
}  // namespace wicprof::analyzer
