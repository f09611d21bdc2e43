#include "analyzer/waits/sites.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/waits/counted_waits.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TEST(Sites, NoneInAnEmptyTrace) {
  TraceModel model = empty_program();
  settle(model);
  EXPECT_TRUE(site_stats(model).empty());
  EXPECT_EQ(model.span(), 0);
}

TEST(Sites, OneWait) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1});
  settle(model);
  const auto sites = site_stats(model);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].count, 1u);
  EXPECT_EQ(sites[0].total_ns, 801'500);
  EXPECT_EQ(sites[0].p50_ns, 801'500);
  EXPECT_EQ(sites[0].p99_ns, 801'500);
  EXPECT_DOUBLE_EQ(sites[0].share, 1.0);  // waits for the whole traced time
  EXPECT_DOUBLE_EQ(sites[0].any_share, 1.0);
  EXPECT_EQ(sites[0].max_waiting, 1u);
}

TEST(Sites, CountsWaitersPollsAndShares) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 10, .sms = 5, .iterations = 100, .polls = 7});
  settle(model);
  const SiteStats site = site_stats(model).at(0);
  EXPECT_EQ(site.name, "flag");
  EXPECT_EQ(site.count, 1000u);
  EXPECT_EQ(site.groups, 10u);
  EXPECT_EQ(site.sms, 5u);
  EXPECT_EQ(site.max_waiting, 10u);
  EXPECT_EQ(site.max_polling, 10u);
  EXPECT_EQ(site.polls, 7000u);
  EXPECT_DOUBLE_EQ(site.polls_per_wait.value(), 7.0);
  EXPECT_NEAR(site.share, 0.80, 0.01);
  EXPECT_NEAR(site.any_share, 0.80, 0.01);
  EXPECT_EQ(site.main_strategy(), StrategyId::poll);
}

TEST(Sites, PatchedLoopsAreInTheMemoryOfTheirWords) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  settle(model);
  model.sites[0].word_memory = WordMemory::unknown;
  EXPECT_EQ(site_stats(model).at(0).word_memory, WordMemory::unknown);
  for (const WordMemory memory : {WordMemory::unknown, WordMemory::managed, WordMemory::managed}) {
    store::PolledWordRow& word = model.polled_words.emplace_back();
    word.site = model.sites[0].id;
    word.memory = memory;
  }
  EXPECT_EQ(site_stats(model).at(0).word_memory, WordMemory::managed);
  model.polled_words.back().memory = WordMemory::device;  // words of one loop may be in several memories
  EXPECT_EQ(site_stats(model).at(0).word_memory, WordMemory::unknown);
}

/// A row of a site whose waits have known ends; the sample's parts are alike if `squares` is sampled^2 / 8.
void add_counts(TraceModel& model, SiteId site, std::uint64_t looked, std::int64_t sampled, std::uint64_t squares,
                std::uint64_t rounds_per_wait = 3) {
  store::WaitCountRow& row = model.wait_counts.emplace_back();
  row = {};
  row.site = site;
  row.one_in = 256;
  row.waits = static_cast<std::int64_t>(rounds_per_wait == 0 ? 0 : looked) + 256 * sampled;
  row.looked = looked;
  row.sampled = sampled;
  row.sampled_squares = squares;
  const auto timed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sampled));
  row.timed = rounds_per_wait == 0 ? 0 : timed;
  row.timed_rounds = rounds_per_wait * timed;
  row.timed_time = static_cast<TimeNs>(1'000 * timed);
}

TEST(Sites, WaitsOfPatchedLoopsAreCountedAndTheirTimeIsEstimated) {
  TraceModel model = empty_program();
  EXPECT_TRUE(counted_waits(model).empty());
  add_handoff(model, {});
  settle(model);
  const SiteId recorded = model.sites[0].id, short_only = recorded + 1;
  add_counts(model, short_only, 0, 40, 200);
  add_counts(model, recorded, 60, 0, 0);
  add_counts(model, short_only, 0, 80, 800);
  const std::vector<CountedWaits> counted = counted_waits(model);
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].site, short_only);  // though none of its waits is recorded
  EXPECT_EQ(counted[0].counted, 256u * 120);
  EXPECT_EQ(counted[0].one_in, 256u);
  EXPECT_EQ(counted[0].at_least, 120u);
  EXPECT_EQ(counted[0].recorded, 0u);
  EXPECT_DOUBLE_EQ(counted[0].rounds.value(), 3.0);
  EXPECT_EQ(counted[0].mean_ns, 1'000);
  EXPECT_EQ(counted[0].time_ns, 1'000 * 256 * 120);
  EXPECT_EQ(counted[1].name, model.site_name(recorded));
  EXPECT_EQ(counted[1].longer, 60u);
  EXPECT_EQ(counted[1].at_least, 60u);
  EXPECT_EQ(counted[1].recorded, model.waits.size());
  EXPECT_FALSE(counted[1].counted) << "without a sample nothing is known of the shorter ones";
  EXPECT_FALSE(counted[1].time_ns);
  // Those of a damaged trace.
  model.wait_counts.back().waits = 0;
  EXPECT_EQ(counted_waits(model)[0].counted, 256u * 40);
  model.wait_counts.front().waits = 0;
  EXPECT_EQ(counted_waits(model)[0].at_least, 120u);
}

TEST(Sites, WaitsThatLastLeaveTheSampleThatHadThem) {
  TraceModel model = empty_program();
  settle(model);
  // 132 blocks begin to wait in one window, and a copy comes before their first looks; they last.
  add_counts(model, 9, 0, 132, 132 * 132);
  add_counts(model, 9, 132, -132, 132 * 132);
  const CountedWaits counted = counted_waits(model).at(0);
  EXPECT_EQ(counted.sampled, 0u);
  EXPECT_EQ(counted.at_least, 132u);
  // More than there were: the recording began while they waited.
  add_counts(model, 9, 5, -5, 25);
  EXPECT_EQ(counted_waits(model).at(0).at_least, 137u);
}

TEST(Sites, AnEstimatedNumberOfWaitsSaysHowGoodItIs) {
  TraceModel model = empty_program();
  settle(model);
  const auto add = [&](std::uint64_t looked, std::int64_t sampled, std::uint64_t squares) {
    add_counts(model, 9, looked, sampled, squares);
    return counted_waits(model).at(0);
  };
  // Three sampled waits, all of one part.
  CountedWaits counted = add(5, 3, 9);
  EXPECT_FALSE(counted.counted) << "they are too few";
  EXPECT_FALSE(counted.standard_error);
  EXPECT_FALSE(counted.mean_ns);
  EXPECT_EQ(counted.at_least, 8u);
  // Parts that are alike add nothing to the variance: 8 / 7 * (9 - 9 / 8) = 9 of the row before.
  counted = add(0, 80, 800);
  EXPECT_EQ(counted.counted, 5u + 256u * 83u);
  EXPECT_NEAR(counted.standard_error.value(), std::sqrt(9.0 * 256 * 255), 1e-6);
  EXPECT_EQ(counted.time_ns, 1'000 * 256 * 83);
  // Waits of one window come together: 8 of one part are as good as one.
  counted = add(0, 8, 64);
  EXPECT_NEAR(counted.standard_error.value(), std::sqrt((9.0 + 64) * 256 * 255), 1e-6);
  // As many of one part as of all others: the number could as well be half or twice as large.
  counted = add(0, 100, 10'000);
  EXPECT_FALSE(counted.counted);
  EXPECT_EQ(counted.at_least, 5u + 191u);
}

TEST(Sites, WaitsWithoutKnownEndsAreEstimatedWithoutTheirTime) {
  TraceModel model = empty_program();
  settle(model);
  add_counts(model, 9, 5, 3, 9, 0);
  EXPECT_EQ(counted_waits(model).at(0).at_least, 5u) << "the longer waits are in the sample as well";
  add_counts(model, 9, 0, 80, 800, 0);
  const CountedWaits counted = counted_waits(model).at(0);
  EXPECT_EQ(counted.counted, 256u * 83u);
  EXPECT_EQ(counted.longer, 5u);
  EXPECT_EQ(counted.at_least, 83u);
  EXPECT_FALSE(counted.rounds);
  EXPECT_FALSE(counted.time_ns);
}

TEST(Sites, ParkedWaitersDoNotCountAsPolling) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 6, .strategy = StrategyId::shared_watch});
  settle(model);
  const SiteStats site = site_stats(model).at(0);
  EXPECT_EQ(site.max_waiting, 6u);
  EXPECT_EQ(site.max_polling, 0u);
}

TEST(Sites, StrategiesAreSeparate) {
  const TraceModel model = phased_program({.phases = 2, .iterations = 20, .period = [](Mode mode, std::size_t) {
                                             return mode == Mode::poll ? TimeNs{900'000} : TimeNs{100'000};
                                           }});
  const SiteStats site = site_stats(model).at(0);
  ASSERT_EQ(site.strategies.size(), 2u);
  EXPECT_EQ(site.strategies[0].strategy, StrategyId::poll);  // more waiting time
  EXPECT_EQ(site.strategies[1].strategy, StrategyId::shared_watch);
  EXPECT_EQ(site.strategies[0].count + site.strategies[1].count, site.count);
  EXPECT_EQ(site.strategies[0].total_ns + site.strategies[1].total_ns, site.total_ns);
  EXPECT_DOUBLE_EQ(site.strategies[0].polls_per_wait, 400.0);
  EXPECT_DOUBLE_EQ(site.strategies[1].polls_per_wait, 2.0);
}

TEST(Sites, IncludeHostWaits) {
  TraceModel model = empty_program();
  declare_site(model, 2, "answer", WordMemory::pinned_host);
  for (std::uint32_t i = 0; i < 10; ++i) add_exchange(model, i, i * 1'000'000, 1'000'000, 1, 1);
  settle(model);
  const auto sites = site_stats(model);
  ASSERT_EQ(sites.size(), 2u);
  for (const SiteStats& site : sites) {
    EXPECT_EQ(site.count, 10u) << site.name;
    EXPECT_EQ(site.host_count, site.site == 2 ? 10u : 0u);
    EXPECT_EQ(site.polls_per_wait.has_value(), site.site == 1);
    EXPECT_EQ(site.main_strategy().has_value(), site.site == 1);
  }
}

TEST(Sites, AWaitReversedByClockErrorHasNoLength) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1});
  model.waits.edit(0)->resumed = model.waits[0].arrived - 100;
  settle(model);
  EXPECT_EQ(site_stats(model).at(0).total_ns, 0);
}

TEST(Sites, DoNotDependOnTheTimeOfRecording) {
  TraceModel model = phased_program(
      {.phases = 2, .iterations = 20, .period = [](Mode, std::size_t i) { return TimeNs(500'000 + 1000 * (i % 7)); }});
  const SiteStats original = site_stats(model).at(0);
  const SiteStats changed = site_stats(shifted(model, -123'456'789'012)).at(0);
  EXPECT_EQ(original.total_ns, changed.total_ns);
  EXPECT_EQ(original.p99_ns, changed.p99_ns);
  EXPECT_EQ(original.any_waiting_ns, changed.any_waiting_ns);
  EXPECT_DOUBLE_EQ(original.share, changed.share);
}

TEST(Sites, CountWordsAndWaitersPerWord) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 6, .iterations = 10});
  settle(model);
  EXPECT_EQ(site_stats(model).at(0).words_seen, std::nullopt);  // no tags
  EXPECT_EQ(site_stats(model).at(0).waiters_per_word, std::nullopt);
  model.waits.edit_all([&](auto& wait) { wait.word = static_cast<WordTag>(wait.block < 4 ? 1 : 2); });
  EXPECT_EQ(site_stats(model).at(0).words_seen, 2u);
  EXPECT_EQ(site_stats(model).at(0).waiters_per_word, 4u);
  model.waits.edit_all([&](auto& wait) { wait.device = wait.block % 2; });
  EXPECT_EQ(site_stats(model).at(0).words_seen, 2u);
  EXPECT_EQ(site_stats(model).at(0).waiters_per_word, 2u);
  model.waits.edit(0)->word.reset();
  EXPECT_EQ(site_stats(model).at(0).words_seen, std::nullopt);
}

TEST(Sites, AGroupWaitsWhileAnyOfItsThreadsDoes) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 4, .iterations = 10});
  TraceModel each_thread = model;
  for (const store::WaitRow& wait : model.waits) {
    for (TimeNs lane = 1; lane < 32; ++lane) {
      each_thread.waits.push_back(wait);
      each_thread.waits.edit_back()->arrived += lane;
    }
  }
  settle(model);
  settle(each_thread);
  const SiteStats stats = site_stats(each_thread).at(0);
  EXPECT_EQ(stats.count, 32 * site_stats(model).at(0).count);
  EXPECT_EQ(stats.groups, 4u);
  EXPECT_NEAR(stats.share, site_stats(model).at(0).share, 1e-3);
}

TEST(Sites, HaveTheLastChoiceOfAuto) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  add_handoff(model, {.site = 2});
  for (const TimeNs at : {300, 100, 200}) {
    store::ChoiceRow choice{};
    choice.site = 1;
    choice.strategy = at == 300 ? StrategyId::poll : StrategyId::shared_watch;
    choice.at = at;
    choice.reason = "because " + std::to_string(at);
    model.choices.push_back(choice);
  }
  settle(model);
  for (const SiteStats& site : site_stats(model)) {
    EXPECT_EQ(site.choices, site.site == 1 ? 3u : 0u);
    ASSERT_EQ(site.choice.has_value(), site.site == 1);
    if (site.choice) {
      EXPECT_EQ(site.choice->reason, "because 300");
    }
  }
}

TEST(Sites, AnUndeclaredSiteIsNamedByItsNumber) {
  TraceModel model = empty_program();
  add_handoff(model, {.site = 9});
  settle(model);
  const SiteStats site = site_stats(model).at(0);
  EXPECT_EQ(site.name, "site 9");
  EXPECT_FALSE(site.declared);
}

}  // namespace
}  // namespace wicprof::analyzer
