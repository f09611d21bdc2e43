// Chains of tiles through the runtime, on the CPU device and, if there is one, on a GPU: dependent launches, results
// over many runs, and programs that break the rules, which get an error in time.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/tile_chain.h"

namespace wic {
namespace {

constexpr std::uint32_t kTileNumbers = 64;

// Writes tile t: run * 1000 + t in each number. As slowly as asked for.
struct Write {
  static constexpr int kMaxThreads = 64, kMinBlocksPerSm = 2;
  TileQueue queue;
  TileOrder order;
  TileSync<Row> done;
  std::uint32_t* to;
  std::uint32_t sleep_ns;
  // The last row is written once this word is not 0, or after 15 s, which the next word counts; nullptr: at once.
  std::uint32_t* not_before;

  WIC_DEVICE void operator()(const Thread& thread) const {
    thread.release_dependents();
    for (;;) {
      auto* const shared = static_cast<TileTicket*>(thread.shared());
      if (thread.index() == 0) *shared = queue.take(thread);
      thread.sync_block();
      const TileTicket tile = *shared;
      thread.sync_block();
      if (!tile) return;
      if (sleep_ns != 0) thread.sleep_ns(sleep_ns);
      const TilePlace place = order.place(tile.index);
      if (thread.index() == 0 && not_before != nullptr && place.row + 1 == order.grid.rows) {
        const std::uint64_t end = thread.clock_ns() + 15'000'000'000;
        while (thread.load(not_before) == 0 && thread.clock_ns() < end) thread.sleep_ns(1'000);
        if (thread.load(not_before) == 0) thread.fetch_add(not_before + 1, 1u);
      }
      thread.sync_block();
      const std::uint32_t number = place.row * order.grid.columns + place.column;
      for (std::uint32_t i = thread.index(); i < kTileNumbers; i += thread.block_size()) {
        to[number * kTileNumbers + i] = tile.run * 1'000 + number;
      }
      thread.sync_block();
      if (thread.index() == 0) done.post(thread, tile.run, place);
    }
  }
};

// Its tile is a row of the producer: counts the numbers that are not of this run.
struct Read {
  static constexpr int kMaxThreads = 64, kMinBlocksPerSm = 2;
  TileQueue queue;
  TileSync<Row> needed;
  const std::uint32_t* from;
  std::uint32_t* wrong;
  std::uint32_t* rows_done;

  WIC_DEVICE void operator()(const Thread& thread) const {
    for (;;) {
      auto* const shared = static_cast<TileTicket*>(thread.shared());
      if (thread.index() == 0) *shared = queue.take(thread);
      thread.sync_block();
      const TileTicket tile = *shared;
      thread.sync_block();
      if (!tile) return;
      if (!needed.wait(thread, tile.run, tile.index)) continue;
      const std::uint32_t columns = needed.policy.grid.columns;
      std::uint32_t mine = 0;
      for (std::uint32_t i = thread.index(); i < columns * kTileNumbers; i += thread.block_size()) {
        const std::uint32_t number = tile.index * columns + i / kTileNumbers;
        mine += from[number * kTileNumbers + i % kTileNumbers] != tile.run * 1'000 + number ? 1 : 0;
      }
      if (mine != 0) thread.fetch_add(wrong, mine);
      thread.sync_block();
      if (thread.index() == 0) thread.fetch_add_acq_rel(rows_done, 1);
    }
  }
};

std::vector<std::string> devices() {
  std::vector<std::string> all{"simt:1"};
  if (open_devices("cuda:0")) all.emplace_back("cuda:0");
  return all;
}

class Tiles : public testing::TestWithParam<std::string> {
 protected:
  static constexpr TileGrid kGrid{6, 8};
  static constexpr std::uint32_t kBlocks = 4;

  void SetUp() override {
    runtime_ = std::move(*Runtime::create({.devices = GetParam()}));
    site_ = *runtime_->add_site({.name = "tiles.test", .word_memory = WordMemory::device});
    stream_ = std::move(*device().make_stream());
    data_ = *Array<std::uint32_t>::make(device(), kGrid.count() * kTileNumbers, wic::Memory::device);
    counts_ = *Array<std::uint32_t>::make(device(), 64, wic::Memory::device);
    seen_ = *Array<std::uint32_t>::make(device(), 64, wic::Memory::pinned_host);
  }
  Device& device() { return runtime_->device(0); }

  Result<TileChain> make_chain(std::uint64_t timeout_ns, std::uint32_t blocks = kBlocks) {
    return TileChain::make(
        *runtime_, 0, site_, timeout_ns,
        {{"write", kGrid.count(), blocks, Row{kGrid}.semaphores()}, {"read", kGrid.rows, blocks, 0}});
  }
  Write writer(const TileChain& chain, std::uint32_t sleep_ns = 0) {
    return {chain.queue(0), {kGrid, 1}, chain.sync(0, Row{kGrid}), data_.data(), sleep_ns, nullptr};
  }
  Read reader(const TileChain& chain) {
    return {chain.queue(1), chain.sync(0, Row{kGrid}), data_.data(), counts_.data(), counts_.data() + 32};
  }
  Result<> launch(TileChain& chain, TileStart start, const Write& write, const Read& read,
                  std::uint32_t blocks = kBlocks) {
    const LaunchShape shape{blocks, 64, 64};
    return chain.launch(*stream_, start,
                        std::array{PlannedLaunch{shape, kernel_ref(write)}, PlannedLaunch{shape, kernel_ref(read)}});
  }
  // Wrong numbers, rows done.
  std::pair<std::uint32_t, std::uint32_t> counts() {
    EXPECT_TRUE(stream_->copy(seen_.data(), counts_.data(), counts_.bytes()));
    EXPECT_TRUE(stream_->synchronize());
    return {seen_[0], seen_[32]};
  }

  std::unique_ptr<Runtime> runtime_;
  SiteId site_ = 0;
  Array<std::uint32_t> data_, counts_, seen_;
  std::unique_ptr<Stream> stream_;
};

TEST_P(Tiles, EveryRunReadsWhatItWrote) {
  for (const TileStart start : {TileStart::stream_order, TileStart::dependent}) {
    for (const StrategyId strategy : {StrategyId::poll, StrategyId::automatic, StrategyId::backoff}) {
      ASSERT_TRUE(runtime_->set_wait(site_, {Mode::park, strategy}));
      auto chain = make_chain(5 * kSecond);
      ASSERT_TRUE(chain) << chain.error().message;
      const auto before = counts();
      for (int run = 0; run < 20; ++run) {
        ASSERT_TRUE(launch(*chain, start, writer(*chain, run % 3 * 2'000), reader(*chain)));
      }
      const auto finished = chain->finish(*stream_);
      ASSERT_TRUE(finished) << finished.error().message;
      const auto after = counts();
      EXPECT_EQ(after.first, 0u) << name_of(start);
      EXPECT_EQ(after.second - before.second, 20u * kGrid.rows);
    }
  }
}

// The producer holds back its last row until the consumer has done the first ones: never, in stream order.
TEST_P(Tiles, ADependentKernelRunsBesideItsProducer) {
  auto chain = make_chain(20 * kSecond);
  ASSERT_TRUE(chain);
  Write write = writer(*chain);
  write.not_before = counts_.data() + 32;
  ASSERT_TRUE(launch(*chain, TileStart::dependent, write, reader(*chain)));
  ASSERT_TRUE(chain->finish(*stream_));
  const auto [wrong, rows] = counts();
  EXPECT_EQ(seen_[33], 0u) << "no row was done beside the producer";
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(rows, kGrid.rows);
}

// A kernel after a dependent pair sees all that both did.
TEST_P(Tiles, TheNextKernelComesAfterTheWholeChain) {
  auto chain = make_chain(5 * kSecond);
  ASSERT_TRUE(chain);
  for (int run = 0; run < 10; ++run) {
    ASSERT_TRUE(launch(*chain, TileStart::dependent, writer(*chain, 10'000), reader(*chain)));
    ASSERT_TRUE(stream_->copy(seen_.data() + run, counts_.data() + 32, sizeof(std::uint32_t)));
  }
  ASSERT_TRUE(chain->finish(*stream_));
  for (std::uint32_t run = 0; run < 10; ++run) EXPECT_EQ(seen_[run], (run + 1) * kGrid.rows);
}

// The consumer first, in stream order: no block of the producer can ever start.
TEST_P(Tiles, AConsumerBeforeItsProducerIsADeadlineAndNoHang) {
#if defined(__SANITIZE_THREAD__)
  constexpr TimeNs kDeadline = 5 * kSecond;  // of the chain that recovers, too: its threads start late
#else
  constexpr TimeNs kDeadline = 200 * kMillisecond;
#endif
  auto chain = make_chain(kDeadline);
  ASSERT_TRUE(chain);
  const LaunchShape shape{kBlocks, 64, 64};
  const TimeNs begin = now_ns();
  ASSERT_TRUE(wic::launch(*stream_, shape, reader(*chain)));
  ASSERT_TRUE(wic::launch(*stream_, shape, writer(*chain)));
  const auto finished = chain->finish(*stream_);
  ASSERT_FALSE(finished);
  const std::string passed = "deadline of " + std::to_string(kDeadline / kMillisecond) + " ms";
  EXPECT_NE(finished.error().message.find(passed), std::string::npos) << finished.error().message;
  EXPECT_LT(now_ns() - begin, kDeadline + 10 * kSecond);
  EXPECT_EQ(counts().second, 0u);
  const auto again = launch(*chain, TileStart::dependent, writer(*chain), reader(*chain));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("reset()"), std::string::npos);
  ASSERT_TRUE(chain->reset(*stream_));
  ASSERT_TRUE(launch(*chain, TileStart::dependent, writer(*chain), reader(*chain)));
  const auto recovered = chain->finish(*stream_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(counts(), (std::pair<std::uint32_t, std::uint32_t>{0, kGrid.rows}));
}

TEST_P(Tiles, LaunchRefusesWhatTheChainWasNotMadeFor) {
  auto chain = make_chain(kSecond);
  ASSERT_TRUE(chain);
  const auto blocks = launch(*chain, TileStart::dependent, writer(*chain), reader(*chain), kBlocks + 1);
  ASSERT_FALSE(blocks);
  EXPECT_NE(blocks.error().message.find("write was made for 4 blocks, not for 5"), std::string::npos)
      << blocks.error().message;
  const Write write = writer(*chain);
  EXPECT_FALSE(
      chain->launch(*stream_, TileStart::dependent, std::array{PlannedLaunch{{kBlocks, 64, 64}, kernel_ref(write)}}));
  EXPECT_FALSE(TileChain::make(*runtime_, 0, site_, kSecond, {}));
  EXPECT_FALSE(TileChain::make(*runtime_, 0, site_, kSecond, {{"none", 0, 1, 1}}));
}

// A chain asks once whether a launch fits; another shape is another question.
TEST_P(Tiles, ALargerBlockIsRefusedAlsoAfterOneThatFits) {
  auto chain = make_chain(5 * kSecond);
  ASSERT_TRUE(chain);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(launch(*chain, TileStart::dependent, writer(*chain), reader(*chain)));
  }
  const LaunchShape fits{kBlocks, 64, 64}, too_large{kBlocks, 65'536, 64};
  const Write write = writer(*chain);
  const Read read = reader(*chain);
  EXPECT_FALSE(
      chain->launch(*stream_, TileStart::dependent,
                    std::array{PlannedLaunch{fits, kernel_ref(write)}, PlannedLaunch{too_large, kernel_ref(read)}}));
  ASSERT_TRUE(launch(*chain, TileStart::dependent, writer(*chain), reader(*chain)));
  ASSERT_TRUE(chain->finish(*stream_));
  EXPECT_EQ(counts(), (std::pair<std::uint32_t, std::uint32_t>{0, 3 * kGrid.rows}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Tiles, testing::ValuesIn(devices()),
                         [](const auto& device) { return device.param == "simt:1" ? "cpu" : "gpu"; });

}  // namespace
}  // namespace wic
