// 10^5 seeded schedules of small programs over all strategies. The seed also selects the program: the number of blocks
// and rounds, whether the strategy is toggled, whether one block leaves early, how long producer and toggler sleep.
//
// WIC_SEED=n runs one seed; a failure prints the command.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <vector>

#include "schedules/deterministic.h"
#include "wic/launch.h"
#include "wic/wait.h"

namespace wic {
namespace {

using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr std::uint64_t kSeedsPerCase = 6'300;  // 16 cases
constexpr std::uint64_t kFar = 1'000'000'000;
constexpr StrategyId kEvery[] = {StrategyId::poll,
                                 StrategyId::backoff,
                                 StrategyId::predicted_sleep,
                                 StrategyId::leader_bar_sync,
                                 StrategyId::shared_watch,
                                 StrategyId::leader_mbarrier,
                                 StrategyId::leader_mbarrier_hint,
                                 StrategyId::naive};

struct Plan {
  std::uint32_t blocks, rounds;
  bool toggles, leaves_early, hot;
  std::uint64_t rest_ns, toggle_rest_ns, early_ns;

  explicit Plan(std::mt19937_64& draw)
      : blocks(1 + draw() % 3),
        rounds(1 + draw() % 3),
        toggles(draw() % 2 == 0),
        leaves_early(draw() % 4 == 0),
        hot(draw() % 2 == 0),
        rest_ns(draw() % 4'000),
        toggle_rest_ns(200 + draw() % 2'000),
        early_ns(draw() % 8'000) {}
};

struct State {
  std::array<StrategyWord, 2> strategies{};
  std::array<SiteMemory, 2> sites{};
  std::array<WatchSlot, 2> watch{};
  alignas(128) std::uint32_t word = 0;
  std::uint32_t data = 0, satisfied = 0, gone = 0, wrong = 0;
  std::uint32_t changes = 0;

  DeviceView view(bool hot) {
    DeviceView v;
    v.strategies = strategies.data();
    v.sites = sites.data();
    v.watch = {watch.data(), static_cast<std::uint32_t>(watch.size()), 2};
    if (hot) v.hot.add(1);
    return v;
  }
  void toggle(StrategyId strategy) {
    std::atomic_ref(strategies[1].word).store((++changes << 8) | static_cast<std::uint32_t>(strategy));
  }
};

// Block 0 leaves early if the plan says so.
struct Waits {
  State* state;
  DeviceView view;
  std::uint32_t rounds;
  bool each_thread;
  std::uint64_t early_ns;  // 0 = no block does

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    const std::uint64_t timeout = early_ns != 0 && thread.block() == 0 ? early_ns : kFar;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      const WaitResult wait = wait_until(thread, view, group, 1, round, &state->word, AtLeast{round}, timeout);
      const bool satisfied = wait.status == WaitStatus::satisfied;
      if (satisfied) ++state->satisfied;  // one OS thread, so plain memory
      if (satisfied && (state->data < round || wait.value < round)) ++state->wrong;
      if (!satisfied && (timeout == kFar || wait.status != WaitStatus::deadline_passed)) ++state->wrong;
    }
    ++state->gone;
  }
};

struct Case {
  StrategyId strategy;
  bool each_thread;
};

class ScheduleSoak : public testing::TestWithParam<Case> {
 protected:
  // An error text, or an empty one.
  static std::string try_seed(std::uint64_t seed) {
    std::mt19937_64 draw(seed);
    const Plan plan(draw);
    const std::uint32_t threads = kWarpSize;
    State state;
    state.toggle(GetParam().strategy);
    simt::DeterministicWorld world(seed);
    world.launch({plan.blocks, threads},
                 kernel_ref(Waits{&state, state.view(plan.hot), plan.rounds, GetParam().each_thread,
                                  plan.leaves_early ? plan.early_ns + 1 : 0}));
    world.add_host_thread([&] {
      for (std::uint32_t round = 1; round <= plan.rounds; ++round) {
        world.host_sleep(plan.rest_ns);
        state.data = round;
        world.host_switch();
        std::atomic_ref(state.word).store(round);
      }
    });
    if (plan.toggles) {
      world.add_host_thread([&] {
        for (std::size_t i = 0; state.gone < plan.blocks * threads; ++i) {
          state.toggle(kEvery[(seed + i) % std::size(kEvery)]);
          world.host_sleep(plan.toggle_rest_ns);
        }
      });
    }
    if (const auto run = world.run(2'000'000); !run) return run.error().message;
    if (state.wrong != 0) return std::to_string(state.wrong) + " waits ended wrongly";
    const std::uint32_t sure = (plan.blocks - (plan.leaves_early ? 1 : 0)) * threads * plan.rounds;
    if (state.satisfied < sure) return "only " + std::to_string(state.satisfied) + " waits were satisfied";
    for (const WatchSlot& slot : state.watch) {
      if ((slot.master >> 63) != 0) return "a slot still has a watcher";
      if ((slot.key & 0x1ffff) != 0) return "a slot still counts a waiter";
    }
    return {};
  }
};

TEST_P(ScheduleSoak, NothingHangsAndNothingIsLost) {
  const char* const only = std::getenv("WIC_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const std::uint64_t count = only != nullptr ? 1 : kSeedsPerCase;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = try_seed(seed);
    ASSERT_EQ(wrong, "") << "seed " << seed << "; to repeat it: WIC_SEED=" << seed
                         << " wic_schedules_soak_test --gtest_filter='"
                         << testing::UnitTest::GetInstance()->current_test_suite()->name() << "."
                         << testing::UnitTest::GetInstance()->current_test_info()->name() << "'";
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const StrategyId strategy : kEvery) {
    all.push_back({strategy, false});
    all.push_back({strategy, true});
  }
  return all;
}
std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(wicprof::strategy_name(info.param.strategy)) +
         (info.param.each_thread ? "_each_thread" : "_leader");
}
INSTANTIATE_TEST_SUITE_P(Strategies, ScheduleSoak, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace wic
