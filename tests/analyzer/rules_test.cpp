#include "analyzer/rules/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/analysis.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

/// Points into `analysis`.
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

TEST(Rules, HaveNamesOfTheirOwnAndAWord) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(names.insert(rule.name).second);
    EXPECT_FALSE(rule.what.empty());
  }
}

TEST(Rules, EveryFindingSaysWhatWhyAndWhatToDo) {
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

TEST(HotWord, ManyPollersOfOneHostWord) {
  const Analysis analysis = of_handoff({.waiters = 528, .sms = 132, .iterations = 4}, WordMemory::pinned_host);
  const Finding* finding = find(analysis, "hot_word");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_EQ(finding->site_name, "flag");
  EXPECT_NE(finding->text.find("528 waiters"), std::string::npos) << finding->text;
  EXPECT_EQ(finding->remedy, "wic-prof toggle park --site flag");
  EXPECT_EQ(find(analysis, "no_gain"), nullptr);
}

TEST(HotWord, FewerPollersAreLessSevere) {
  const Analysis analysis = of_handoff({.waiters = 12, .iterations = 4}, WordMemory::pinned_host);
  ASSERT_NE(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "hot_word")->severity, Severity::warning);
}

TEST(HotWord, NotForWordsOfTheirOwn) {
  const Analysis analysis = of_handoff({.waiters = 528, .iterations = 4}, WordMemory::pinned_host, 0);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_NE(find(analysis, "no_gain"), nullptr);
}

TEST(HotWord, NotForParkedWaiters) {
  const Analysis analysis =
      of_handoff({.waiters = 528, .iterations = 4, .strategy = StrategyId::shared_watch}, WordMemory::pinned_host);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "no_gain"), nullptr);  // polling would cost, so parking does gain
}

TEST(HotWord, NotForSomeHundredLeadersOnADeviceWord) {
  const Analysis analysis = of_handoff({.waiters = 528, .iterations = 4}, WordMemory::device);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  ASSERT_NE(find(analysis, "no_gain"), nullptr);
  EXPECT_EQ(find(analysis, "no_gain")->severity, Severity::info);
}

TEST(HotWord, WhereEveryThreadPollsADeviceWord) {
  const Analysis many =
      of_handoff({.waiters = 192, .sms = 4, .iterations = 4}, WordMemory::device, 1, Pollers::each_thread);
  ASSERT_NE(find(many, "hot_word"), nullptr);
  EXPECT_EQ(find(many, "hot_word")->severity, Severity::critical);
  const Analysis few =
      of_handoff({.waiters = 4, .sms = 4, .iterations = 4}, WordMemory::device, 1, Pollers::each_thread);
  EXPECT_EQ(find(few, "hot_word"), nullptr);
}

TEST(HotWord, ASiteNameThatAShellWouldReadIsQuoted) {
  TraceModel model = empty_program();
  model.sites[0].name = "halo $(reboot)";
  add_handoff(model, {.waiters = 100});
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "hot_word"), nullptr);
  EXPECT_EQ(find(analysis, "hot_word")->remedy, "wic-prof toggle park --site 'halo $(reboot)'");
}

TEST(NoGain, WhereWaitingIsRare) {
  TraceModel model = empty_program();
  const TimeNs end = add_handoff(model, {.waiters = 100, .iterations = 4});
  store::KernelRow kernel{};
  kernel.start = end;
  kernel.end = end + 10'000'000'000;  // and then nobody waits
  model.kernels.push_back(kernel);
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

TEST(DeadlineMissed, QuietWhenAllWereSatisfied) {
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

TEST(DataLost, SamplesCountAmongWhatArrived) {
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

TEST(DataLost, AnUnfinishedTraceSaysSo) {
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

TEST(HostSpin, TellsSpinningFromSleeping) {
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

TEST(Rules, RefuseASiteWhoseLayoutIsNotRecorded) {
  TraceModel model = empty_program();
  model.sites.clear();
  add_handoff(model, {.waiters = 100});
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_EQ(find(analysis, "hot_word"), nullptr);
  EXPECT_TRUE(refused(analysis, "hot_word"));
}

}  // namespace
}  // namespace wicprof::analyzer
