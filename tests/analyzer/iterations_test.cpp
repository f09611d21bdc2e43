#include "analyzer/waits/iterations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TEST(Iterations, NoneWithoutWaits) {
  TraceModel model = empty_program();
  settle(model);
  EXPECT_TRUE(find_iterations(model).empty());
}

TEST(Iterations, NoneFromASingleNumber) {
  TraceModel model = empty_program();
  add_handoff(model, {.iterations = 1});
  settle(model);
  EXPECT_TRUE(find_iterations(model).empty());
}

TEST(Iterations, SpanFromFirstArrivalToFirstArrival) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 5, .iterations = 40, .period = [](std::size_t i) { return TimeNs(1000 * (i + 1)); }});
  settle(model);
  const auto all = find_iterations(model);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].runs, 1u);
  ASSERT_EQ(all[0].list.size(), 39u);  // the last iteration has no end
  for (std::size_t i = 0; i < all[0].list.size(); ++i) {
    EXPECT_EQ(all[0].list[i].number, i);
    EXPECT_EQ(all[0].list[i].duration(), static_cast<TimeNs>(1000 * (i + 1)));
  }
}

TEST(Iterations, ARestartedNumberingIsANewRun) {
  TraceModel model = empty_program();
  Handoff handoff{.waiters = 3, .iterations = 10};
  for (std::uint32_t run = 0; run < 4; ++run) {
    handoff.waiters = 3 + run;  // later runs have additional waiters
    handoff.start = add_handoff(model, handoff) + 50'000'000;
  }
  settle(model);
  const Iterations found = find_iterations(model).at(0);
  EXPECT_EQ(found.runs, 4u);
  ASSERT_EQ(found.list.size(), 4u * 9u);
  for (const Iteration& iteration : found.list) EXPECT_EQ(iteration.duration(), 1'000'000);  // without the pause
}

TEST(Iterations, SkewedWaitersAreNoNewRuns) {
  std::mt19937 random(11);
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 6, .iterations = 50});
  // Each waiter is up to 3 iterations ahead of or behind the others, but its own iterations are in order.
  model.waits.edit_all([&](auto& wait) {
    const TimeNs skew = static_cast<TimeNs>(wait.block) * 600'000 + static_cast<TimeNs>(random() % 1000);
    wait.arrived += skew;
    wait.resumed += skew;
  });
  settle(model);
  const Iterations found = find_iterations(model).at(0);
  EXPECT_EQ(found.runs, 1u);
  EXPECT_EQ(found.list.size(), 49u);
}

TEST(Iterations, ALostIterationDoesNotLengthenAnother) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 2, .iterations = 20});
  model.waits.erase_if([](const auto& wait) { return wait.iteration == 7; });
  settle(model);
  const Iterations found = find_iterations(model).at(0);
  EXPECT_EQ(found.list.size(), 17u);  // neither 6 nor 7 is complete
  for (const Iteration& iteration : found.list) EXPECT_EQ(iteration.duration(), 1'000'000);
}

TEST(Iterations, HostWaitsHaveIterations) {
  TraceModel model = empty_program();
  declare_site(model, 2, "answer", WordMemory::pinned_host);
  for (std::uint32_t i = 0; i < 12; ++i) add_exchange(model, i, i * 2'000'000, 2'000'000, 0, 1);
  settle(model);
  const Iterations found = find_iterations(model).at(0);
  EXPECT_EQ(found.device, kHostDevice);
  EXPECT_EQ(found.site, 2u);
  EXPECT_EQ(found.list.size(), 11u);
}

TEST(Iterations, TheSiteWithTheMostIterationsComesFirst) {
  TraceModel model = empty_program();
  declare_site(model, 2, "often", WordMemory::device);
  add_handoff(model, {.site = 1, .iterations = 10});
  add_handoff(model, {.site = 2, .iterations = 30});
  settle(model);
  const auto all = find_iterations(model);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].site_name, "often");
}

TEST(Iterations, DoNotDependOnTimeOrDeviceNumbers) {
  TraceModel model = empty_program();
  declare_device(model, 1, 300);
  add_handoff(model, {.device = 0, .iterations = 25});
  add_handoff(model, {.device = 1, .iterations = 25, .start = 1'000'500'000});
  settle(model);
  const TraceModel other = shifted(renamed_devices(model, [](DeviceId id) { return 10 - id; }), 7'000'000'000);
  const Iterations original = find_iterations(model).at(0);
  const Iterations changed = find_iterations(other).at(0);
  EXPECT_EQ(original.device, 0);
  EXPECT_EQ(changed.device, 10);
  ASSERT_EQ(original.list.size(), changed.list.size());
  for (std::size_t i = 0; i < original.list.size(); ++i)
    EXPECT_EQ(original.list[i].duration(), changed.list[i].duration());
}

}  // namespace
}  // namespace wicprof::analyzer
