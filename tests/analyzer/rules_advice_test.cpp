// One verdict per site, which knows what was tried and what it brought; and what shares refer to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/analysis.h"
#include "findings.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

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
  EXPECT_NE(find(analysis, "late_wake")->remedy.find("look at what delays the waiters"), std::string::npos);
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

/// A kernel of patched loops on two devices: device 0 waits for 80 % of the time; of device 1's time, `share` of that.
TraceModel on_two_devices(double share) {
  TraceModel model = empty_program();
  model.sites[0].name = "all_reduce:47";
  declare_site(model, 2, "all_reduce:47#2", WordMemory::device);
  declare_device(model, 1, 0);
  add_handoff(model, {});
  Handoff other{.site = 2, .device = 1};
  other.period = [share](std::size_t) { return static_cast<TimeNs>(share * 1e6); };
  if (share > 0) add_handoff(model, other);
  for (const DeviceId device : {DeviceId{0}, DeviceId{1}}) {
    store::WaitCountRow& row = model.wait_counts.emplace_back();
    row.site = 1 + device;
    row.device = device;
    row.process = 70 + device;
    row.timed = 2;
  }
  return model;
}

std::string late_device_of(TraceModel model) {
  settle(model);
  const Analysis analysis = analyze(std::move(model));
  const Finding* const finding = find(analysis, "late_rank");
  return finding == nullptr ? "" : finding->text;
}

TEST(LateDevice, WaitsNextToNothingWhereTheOthersWait) {
  for (const double share : {0.0, 0.1}) {
    const std::string text = late_device_of(on_two_devices(share));
    EXPECT_NE(text.find("1 (process 71) came late: the other device waited at least"), std::string::npos) << text;
    EXPECT_NE(text.find("in each waiter of all_reduce, and it waited"), std::string::npos) << text;
  }
}

TEST(LateDevice, NoneWhereAllWaitOrOneAloneRunsTheKernel) {
  EXPECT_EQ(late_device_of(on_two_devices(0.5)), "");
  TraceModel alone = on_two_devices(0);
  alone.wait_counts.back().timed = 0;  // its loop is loaded there, and has not run
  EXPECT_EQ(late_device_of(alone), "");
  TraceModel two = on_two_devices(0);  // neither of two waits: which of them comes late is not known
  declare_device(two, 2, 0);
  two.wait_counts.push_back(two.wait_counts.back());
  two.wait_counts.back().device = 2;
  EXPECT_EQ(late_device_of(two), "");
}

}  // namespace
}  // namespace wicprof::analyzer
