#include "analyzer/waits/wait_state_table.h"

#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kBegin = 1'000'000;

TraceModel with_pollers(Pollers pollers) {
  TraceModel model = synthetic::empty_program();
  model.sites[0].pollers = pollers;
  return model;
}

store::WaitList::Edited add_wait(TraceModel& model, std::uint32_t block, std::uint32_t warp, std::uint32_t polls,
                                 StrategyId strategy) {
  store::WaitRow wait{};
  wait.site = 1;
  wait.block = block;
  wait.warp = warp;
  wait.arrived = kBegin + 100;
  wait.resumed = kBegin + 500;
  wait.polls = polls;
  wait.strategy = strategy;
  return model.waits.emplace_back(wait);
}

void add_kernel(TraceModel& model, std::uint32_t blocks, std::uint32_t threads) {
  store::KernelRow kernel{};
  kernel.name = "k";
  kernel.start = kBegin;
  kernel.end = kBegin + 1'000;
  kernel.grid[0] = blocks;
  kernel.block[0] = threads;
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  model.kernels.push_back(kernel);
}

TEST(WaitStateTable, TheBlocksOtherWarpsAreAtTheBarrierWhileItsLeaderWaits) {
  TraceModel model = with_pollers(Pollers::leader);
  add_kernel(model, 4, 256);
  add_wait(model, 0, 0, 400, StrategyId::poll);
  add_wait(model, 1, 0, 3, StrategyId::leader_bar_sync);
  settle(model);
  const WaitStateTable states(model);
  EXPECT_EQ(states.others(0), 7u);
  EXPECT_EQ(states.own(0).last, State::polling);
  EXPECT_EQ(states.others(1), 7u);
  EXPECT_EQ(states.own(1).last, State::parked) << "its leader sleeps between polls";
}

TEST(WaitStateTable, TwoGroupsShareTheWarpsOfTheirBlock) {
  TraceModel model = with_pollers(Pollers::leader);
  add_kernel(model, 1, 8 * 32 - 5);
  add_wait(model, 0, 0, 1, StrategyId::poll);
  add_wait(model, 0, 6, 1, StrategyId::poll);
  settle(model);
  const WaitStateTable states(model);
  EXPECT_EQ(states.others(0), 5u) << "up to the next leader";
  EXPECT_EQ(states.others(1), 1u) << "up to the block's end, including a partial last warp";
}

TEST(WaitStateTable, CountsNoWarpsIfTheKernelIsAmbiguous) {
  TraceModel model = with_pollers(Pollers::leader);
  add_wait(model, 0, 0, 1, StrategyId::poll);
  settle(model);
  EXPECT_EQ(WaitStateTable(model).others(0), 0u) << "no kernel is recorded";
  add_kernel(model, 4, 256);
  add_kernel(model, 4, 512);
  settle(model);
  EXPECT_EQ(WaitStateTable(model).others(0), 0u) << "two kernels of different shapes are possible";
  model.kernels.edit_back()->grid[0] = 0;
  EXPECT_EQ(WaitStateTable(model).others(0), 7u) << "the other kernel has no such block";
}

TEST(WaitStateTable, WarpsWithoutPollsUnderALeaderAreAtTheBarrier) {
  TraceModel model = with_pollers(Pollers::each_thread);
  add_kernel(model, 4, 64);
  add_wait(model, 0, 0, 12, StrategyId::leader_mbarrier);
  add_wait(model, 0, 1, 0, StrategyId::leader_mbarrier);
  add_wait(model, 1, 0, 0, StrategyId::predicted_sleep);
  add_wait(model, 1, 1, 30, StrategyId::poll);
  settle(model);
  const WaitStateTable states(model);
  EXPECT_EQ(states.own(0).last, State::parked);
  EXPECT_EQ(states.own(1).last, State::at_barrier);
  EXPECT_EQ(states.own(2).last, State::parked) << "each of its warps polls for itself";
  EXPECT_EQ(states.own(3).last, State::polling);
  for (std::size_t i = 0; i < model.waits.size(); ++i) EXPECT_EQ(states.others(i), 0u) << "each warp has its own row";
}

TEST(WaitStateTable, AChangeOfStrategySplitsAWait) {
  TraceModel model = with_pollers(Pollers::leader);
  add_wait(model, 0, 0, 12, StrategyId::shared_watch).switched = kBegin + 200;
  settle(model);
  const WaitStateTable::Own own = WaitStateTable(model).own(0);
  EXPECT_EQ(own.first, State::polling);
  EXPECT_EQ(own.last, State::parked);
  EXPECT_EQ(own.change, kBegin + 200);
}

}  // namespace
}  // namespace wicprof::analyzer
