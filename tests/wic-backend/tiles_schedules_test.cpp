// Chains of kernels that wait for each other's tiles, under many seeded schedules and, as small programs, under every
// schedule within bounds: each tile is computed once, no tile reads data that is not there, and nothing hangs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "schedules/deterministic.h"
#include "schedules/exhaustive.h"
#include "wic/launch.h"
#include "wic/tiles.h"

namespace wic {
namespace {

constexpr std::uint64_t kTimeout = 1'000'000'000;

// The device memory of two stages.
struct Memory {
  std::vector<StrategyWord> strategies = std::vector<StrategyWord>(kMaxSites);
  std::vector<SiteMemory> sites = std::vector<SiteMemory>(kMaxSites);
  std::vector<WatchSlot> watch = std::vector<WatchSlot>(16);
  std::array<std::uint64_t, 2> next{};
  std::uint32_t failed = 0;
  std::vector<TileSemaphore> semaphores = std::vector<TileSemaphore>(64);
  std::vector<std::uint32_t> produced = std::vector<std::uint32_t>(64);  // the run that wrote the tile last
  std::vector<std::uint32_t> consumed = std::vector<std::uint32_t>(64);  // how often
  std::uint32_t early = 0;  // tiles of the producer that a consumer found unwritten

  Site site(std::uint64_t timeout_ns) {
    Site s;
    s.view.strategies = strategies.data();
    s.view.sites = sites.data();
    s.view.watch = {watch.data(), 16, 1};
    s.view.sm_count = 1;
    s.id = 1;
    s.timeout_ns = timeout_ns;
    return s;
  }
  void set_strategy(StrategyId strategy) {
    std::atomic_ref(strategies[1].word).fetch_add(1u << 8);
    std::atomic_ref(strategies[1].word).store((strategies[1].word & ~0xffu) | static_cast<std::uint32_t>(strategy));
  }
};

// One thread takes a tile for its block.
WIC_DEVICE TileTicket take_for_block(const Thread& thread, const TileQueue& queue) {
  auto* const shared = static_cast<TileTicket*>(thread.shared());
  if (thread.index() == 0) *shared = queue.take(thread);
  thread.sync_block();
  const TileTicket tile = *shared;
  thread.sync_block();
  return tile;
}

template <class Policy>
struct Producer {
  TileQueue queue;
  TileOrder order;
  TileSync<Policy> done;
  Memory* memory;

  WIC_DEVICE void operator()(const Thread& thread) const {
    thread.release_dependents();
    while (const TileTicket tile = take_for_block(thread, queue)) {
      const TilePlace place = order.place(tile.index);
      if (thread.index() == 0) {
        thread.store(&memory->produced[place.row * order.grid.columns + place.column], tile.run);
      }
      thread.sync_block();
      if (thread.index() == 0) done.post(thread, tile.run, place);
    }
  }
};

// Its tile i needs all tiles of the producer that belong to semaphore i.
template <class Policy>
struct Consumer {
  TileQueue queue;
  TileSync<Policy> needed;
  Memory* memory;

  WIC_DEVICE void operator()(const Thread& thread) const {
    while (const TileTicket tile = take_for_block(thread, queue)) {
      if (!needed.wait(thread, tile.run, tile.index)) continue;
      if (thread.index() == 0) {
        const TileGrid grid = needed.policy.grid;
        for (std::uint32_t i = 0; i < grid.count(); ++i) {
          if (needed.policy.semaphore({i % grid.columns, i / grid.columns}) != tile.index) continue;
          if (thread.load(&memory->produced[i]) != tile.run) thread.fetch_add(&memory->early, 1);
        }
        thread.fetch_add(&memory->consumed[tile.index], 1);
      }
    }
  }
};

TEST(TileOrder, VisitsEveryTileOnce) {
  for (const std::uint32_t together : {1u, 2u, 3u, 7u}) {
    const TileOrder order{{5, 7}, together};
    std::vector<std::uint32_t> visits(order.grid.count());
    std::uint32_t last_group = 0;
    for (std::uint32_t i = 0; i < order.grid.count(); ++i) {
      const TilePlace place = order.place(i);
      ASSERT_LT(place.column, 5u);
      ASSERT_LT(place.row, 7u);
      ++visits[place.row * 5 + place.column];
      ASSERT_GE(place.row / together, last_group);
      last_group = place.row / together;
    }
    EXPECT_EQ(visits, std::vector<std::uint32_t>(35, 1)) << together << " rows together";
  }
}

template <class Policy>
void expect_counts_right(const Policy& policy) {
  std::vector<std::uint32_t> tiles(policy.semaphores());
  for (std::uint32_t i = 0; i < policy.grid.count(); ++i) {
    const std::uint32_t semaphore = policy.semaphore({i % policy.grid.columns, i / policy.grid.columns});
    ASSERT_LT(semaphore, tiles.size());
    ++tiles[semaphore];
  }
  for (std::uint32_t s = 0; s < tiles.size(); ++s) EXPECT_EQ(policy.tiles(s), tiles[s]) << "semaphore " << s;
}

TEST(TilePolicies, EachTileBelongsToOneSemaphoreOfTheSaidSize) {
  expect_counts_right(Tile{{5, 3}});
  expect_counts_right(Row{{5, 3}});
  expect_counts_right(Column{{5, 3}});
  for (const std::uint32_t stride : {1u, 2u, 3u, 4u, 5u}) expect_counts_right(Strided{{5, 3}, stride});
}

// Two runs of producer and consumer at once, as their launches overlap: the deterministic world starts all blocks.
template <class Policy>
void run_under_schedules(const Policy& policy, std::uint32_t rows_together) {
  constexpr std::uint32_t kThreads = 64, kProducers = 2, kConsumers = 3, kRuns = 3;
  constexpr StrategyId kEvery[] = {
      StrategyId::poll,         StrategyId::backoff,        StrategyId::predicted_sleep, StrategyId::leader_bar_sync,
      StrategyId::shared_watch, StrategyId::leader_mbarrier};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Memory memory;
    for (std::uint32_t run = 1; run <= kRuns; ++run) {
      memory.set_strategy(kEvery[(seed + run) % std::size(kEvery)]);
      simt::DeterministicWorld world(seed * kRuns + run);
      const TileSync<Policy> sync{policy, memory.semaphores.data(), &memory.failed, memory.site(kTimeout)};
      const std::uint32_t tiles = policy.grid.count();
      const LaunchShape consumers{kConsumers, kThreads, 64}, producers{kProducers, kThreads, 64};
      world.launch(consumers, kernel_ref(Consumer<Policy>{
                                  {&memory.next[1], &memory.failed, policy.semaphores(), kConsumers}, sync, &memory}));
      world.launch(
          producers,
          kernel_ref(Producer<Policy>{
              {&memory.next[0], &memory.failed, tiles, kProducers}, {policy.grid, rows_together}, sync, &memory}));
      bool ended = false;
      world.add_host_thread([&] {  // toggles while tiles wait
        for (std::uint32_t i = 0; !ended && i < 40; ++i) {
          memory.set_strategy(kEvery[(seed + i) % std::size(kEvery)]);
          world.host_sleep(2'000 + seed * 37 % 5'000);
        }
      });
      const auto ran = world.run(20'000'000);
      ended = true;
      ASSERT_TRUE(ran) << ran.error().message << ", seed " << seed << ", run " << run;
      ASSERT_EQ(memory.failed, 0u) << "seed " << seed;
      ASSERT_EQ(memory.early, 0u) << "seed " << seed << ", run " << run;
      for (std::uint32_t s = 0; s < policy.semaphores(); ++s) ASSERT_EQ(memory.consumed[s], run) << "seed " << seed;
      ASSERT_EQ(memory.next[0], run * (tiles + kProducers));
      ASSERT_EQ(memory.next[1], run * (policy.semaphores() + kConsumers));
    }
  }
}

TEST(TileSchedules, ByTile) { run_under_schedules(Tile{{4, 3}}, 1); }
TEST(TileSchedules, ByRow) { run_under_schedules(Row{{4, 3}}, 2); }
TEST(TileSchedules, ByColumn) { run_under_schedules(Column{{4, 3}}, 3); }
TEST(TileSchedules, Strided) { run_under_schedules(Strided{{4, 3}, 3}, 1); }

TEST(TileSchedules, CountersMayWrapAround) {
  // The run that follows 2^32 - 1 earlier runs.
  const Row policy{{3, 2}};
  Memory memory;
  constexpr std::uint32_t kBlocks = 2;
  memory.next = {std::uint64_t{0xffffffffu} * (policy.grid.count() + kBlocks),
                 std::uint64_t{0xffffffffu} * (policy.semaphores() + kBlocks)};
  for (std::uint32_t s = 0; s < 2; ++s) memory.semaphores[s].done = 0xffffffffu * policy.tiles(s);
  memory.produced.assign(64, 0xffffffffu);
  for (std::uint32_t run = 0; run < 2; ++run) {
    simt::DeterministicWorld world(run);
    const TileSync<Row> sync{policy, memory.semaphores.data(), &memory.failed, memory.site(kTimeout)};
    world.launch({kBlocks, 32, 64},
                 kernel_ref(Consumer<Row>{{&memory.next[1], &memory.failed, 2, kBlocks}, sync, &memory}));
    world.launch(
        {kBlocks, 32, 64},
        kernel_ref(Producer<Row>{{&memory.next[0], &memory.failed, 6, kBlocks}, {policy.grid, 1}, sync, &memory}));
    ASSERT_TRUE(world.run(10'000'000));
    EXPECT_EQ(memory.early, 0u);
    EXPECT_EQ(memory.failed, 0u);
    EXPECT_EQ(memory.consumed[0], run + 1);
    EXPECT_EQ(memory.produced[0], run);
  }
}

TEST(TileSchedules, AMissingProducerIsADeadline) {
  const Row policy{{2, 4}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Memory memory;
    simt::DeterministicWorld world(seed);
    const TileSync<Row> sync{policy, memory.semaphores.data(), &memory.failed, memory.site(2'000'000)};
    world.launch({2, 64, 64}, kernel_ref(Consumer<Row>{{&memory.next[1], &memory.failed, 4, 2}, sync, &memory}));
    const auto ran = world.run(20'000'000);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_NE(memory.failed, 0u);
    EXPECT_EQ(memory.next[1], 6u) << "the tickets of a failed run are all taken, seed " << seed;
    for (const std::uint32_t times : memory.consumed) EXPECT_EQ(times, 0u);
  }
}

// Blocks of one thread and a memory at a fixed address: small enough to try every schedule.
struct SmallProgram {
  std::uint64_t producer_next, consumer_next;
  TileSemaphore semaphores[2];
  std::uint32_t failed, produced[2], wrong;
  StrategyWord strategies[2];
  SiteMemory sites[2];
};

struct SmallProducer {
  TileQueue queue;
  TileSync<Tile> done;
  std::uint32_t* produced;
  bool post_first;  // the mutant: says that the tile is done before it is

  void operator()(const Thread& thread) const {
    while (const TileTicket tile = queue.take(thread)) {
      if (post_first) done.post(thread, tile.run, {tile.index, 0});
      thread.store(&produced[tile.index], tile.run);
      if (!post_first) done.post(thread, tile.run, {tile.index, 0});
    }
  }
};

struct SmallConsumer {
  TileQueue queue;
  TileSync<Tile> needed;
  const std::uint32_t* produced;
  std::uint32_t* wrong;
  bool looks_first;

  bool is_ready(const Thread& thread, const TileTicket& tile) const {
    if (looks_first && needed.ready(thread, tile.run, tile.index)) {
      thread.fence_acquire();
      return true;
    }
    return needed.wait(thread, tile.run, tile.index);
  }
  void operator()(const Thread& thread) const {
    while (const TileTicket tile = queue.take(thread)) {
      if (!is_ready(thread, tile) || thread.load(&produced[tile.index]) != tile.run) {
        thread.fetch_add(wrong, 1);
      }
    }
  }
};

simt::Explored explore_small(bool post_first, bool looks_first = false) {
  static SmallProgram program;
  simt::Bounds bounds;
  bounds.preemptions = 2;
  return simt::explore(bounds, [post_first, looks_first](simt::ExploredRun& run) -> std::string {
    program = {};
    program.strategies[1].word = static_cast<std::uint32_t>(StrategyId::backoff);
    Site site;
    site.view.strategies = program.strategies;
    site.view.sites = program.sites;
    site.view.sm_count = 1;
    site.id = 1;
    site.timeout_ns = kTimeout;
    const TileSync<Tile> sync{{{2, 1}}, program.semaphores, &program.failed, site};
    run.launch(
        {1, 1, 64},
        kernel_ref(SmallConsumer{
            {&program.consumer_next, &program.failed, 2, 1}, sync, program.produced, &program.wrong, looks_first}));
    run.launch({2, 1, 64}, kernel_ref(SmallProducer{
                               {&program.producer_next, &program.failed, 2, 2}, sync, program.produced, post_first}));
    if (const auto ended = run.run(); !ended) return ended.error().message;
    if (program.wrong != 0) return "a consumer read a tile that was not written";
    return program.producer_next == 4 && program.consumer_next == 3 ? "" : "tickets were lost";
  });
}

TEST(TilesExhaustively, HoldUnderEverySchedule) {
  const simt::Explored explored = explore_small(false);
  EXPECT_EQ(explored.failure, "");
  EXPECT_TRUE(explored.complete);
  EXPECT_GT(explored.schedules, 100u);
}

TEST(TilesExhaustively, ALookBeforeTheWaitHoldsUnderEverySchedule) {
  const simt::Explored explored = explore_small(false, true);
  EXPECT_EQ(explored.failure, "");
  EXPECT_TRUE(explored.complete);
  EXPECT_GT(explored.schedules, 100u);
}

TEST(TilesExhaustively, FindAPostBeforeTheData) {
  for (const bool looks_first : {false, true}) {
    EXPECT_EQ(explore_small(true, looks_first).failure.substr(0, 41), "a consumer read a tile that was not writt");
  }
}

}  // namespace
}  // namespace wic
