// Work beside pollers, and the overlap of waits with work.
#include "analyzer/work/interference.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/work/overlap.h"
#include "path_rows.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

// One kernel with 64 waiters, which poll for 50 ms and park for 50 ms; beside it 20 kernels of 2 ms, then 20 of 1 ms.
TEST(Interference, ComparesKernelsBesidePollersWithKernelsBesideParkedWaiters) {
  test_program::Program program;
  program.kernel("waiting", 1, {1'000'000, 101'000'000})->grid[0] = 64;
  program.model.sites.push_back({1, "flag", WordMemory::pinned_host, Pollers::leader, 1});
  for (std::uint32_t w = 0; w < 64; ++w) {
    program.model.waits.push_back(wait_row(1, w, 1'000'000, 51'000'000));
    program.model.waits.push_back(wait_row(1, w, 51'000'001, 101'000'000, 1));
    program.model.waits.edit_back()->strategy = StrategyId::shared_watch;
  }
  for (TimeNs i = 0; i < 20; ++i) {
    program.kernel("stream", 2, {2'000'000 + i * 2'400'000, 4'000'000 + i * 2'400'000});
    program.kernel("stream", 2, {52'000'000 + i * 2'400'000, 53'000'000 + i * 2'400'000});
  }
  store::InterventionRow row{};
  row.old_mode = Mode::poll;
  row.new_mode = Mode::park;
  row.requested = row.effective = 51'000'000;
  program.model.interventions.push_back(row);
  const TraceModel& model = program.settled();
  const Waiters waiters(model);
  const Interference found = interference(model, waiters, WaitKernels(model, waiters), Modes(model));
  ASSERT_EQ(found.works.size(), 1u) << found.missing;
  const SlowedWork& work = found.works[0];
  EXPECT_TRUE(work.by_toggle);
  EXPECT_NE(work.what.find("stream"), std::string::npos);
  EXPECT_EQ(work.many_spans, 20u);
  EXPECT_EQ(work.few_spans, 20u);
  EXPECT_DOUBLE_EQ(work.many_pollers, 64);
  EXPECT_DOUBLE_EQ(work.few_pollers, 0);
  EXPECT_DOUBLE_EQ(work.slowdown.value, 2);
  EXPECT_DOUBLE_EQ(work.slowdown.low, 2);
}

TEST(Interference, NeedsTimesWithFewerPollers) {
  TraceModel model = hot_word(WordMemory::pinned_host, 1, 64);
  const Waiters waiters(model);
  const Interference found = interference(model, waiters, WaitKernels(model, waiters), Modes(model));
  EXPECT_TRUE(found.works.empty());
  EXPECT_NE(found.missing.find("--schedule"), std::string::npos);
}

// Blocks A and B on one SM: A waits from 10 to 20 and 35 to 36 ms, B from 15 to 30; both compute before and between.
TEST(Overlap, CountsTheTimeInWhichTheOtherBlockComputes) {
  test_program::Program program;
  program.kernel("both", 1, {1, 40'000'001})->grid[0] = 2;
  program.model.sites.push_back({1, "flag", WordMemory::device, Pollers::leader, 0});
  program.model.waits.push_back(wait_row(1, 0, 10'000'001, 20'000'001));
  program.model.waits.push_back(wait_row(1, 0, 35'000'001, 36'000'001, 1));
  program.model.waits.push_back(wait_row(1, 1, 15'000'001, 30'000'001));
  const TraceModel& model = program.settled();
  const Waiters waiters(model);
  const Overlaps overlaps = overlap(model, waiters, WaitKernels(model, waiters), Modes(model));
  ASSERT_EQ(overlaps.modes.size(), 1u);
  EXPECT_NEAR(overlaps.modes[0].seen, 15.0 / 26, 1e-9);
  EXPECT_NEAR(overlaps.modes[0].at_most.value_or(0), 15.0 / 26, 1e-9);

  program.model.kernels.edit(0)->grid[0] = 3;  // a third block that never waits may compute all the time
  const TraceModel& third = program.settled();
  const Overlaps more = overlap(third, waiters, WaitKernels(third, waiters), Modes(third));
  EXPECT_NEAR(more.modes.at(0).seen, 15.0 / 26, 1e-9);
  EXPECT_NEAR(more.modes.at(0).at_most.value_or(0), 1, 1e-9);
}

}  // namespace
}  // namespace wicprof::analyzer
