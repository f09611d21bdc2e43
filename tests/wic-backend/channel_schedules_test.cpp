// The device side of channels under many seeded schedules of the CPU device: every message arrives as sent, once, in
// every order of turns and under every strategy.
#include <memory>

#include "channel_test.h"
#include "schedules/deterministic.h"

namespace wic::test {
namespace {

using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr StrategyId kEvery[] = {StrategyId::poll,
                                 StrategyId::backoff,
                                 StrategyId::predicted_sleep,
                                 StrategyId::leader_bar_sync,
                                 StrategyId::shared_watch,
                                 StrategyId::leader_mbarrier,
                                 StrategyId::leader_mbarrier_hint,
                                 StrategyId::naive};
constexpr std::uint64_t kSecond = 1'000'000'000;

struct alignas(kLineBytes) Line {
  std::byte bytes[kLineBytes];
};

// A channel from device to device in plain memory.
class World {
 public:
  World(std::uint32_t tags, std::uint32_t max_bytes, Announce announce, StrategyId strategy)
      : lines_(tags), strategies_(kMaxSites), sites_(kMaxSites), watch_(16), heads_(2), records_(2 * 1024) {
    box_.tags = tags;
    box_.max_bytes = max_bytes;
    box_.announce = announce;
    box_.slots = slot_layout(max_bytes, false);
    // Every batch has its own pages, odd cycles after even ones.
    const auto a_batch = static_cast<std::uint32_t>((kBatchTags * box_.slots.stride + kPageBytes - 1) / kPageBytes);
    for (std::uint32_t i = 0; i < 2 * box_.batches(); ++i) first_page_.push_back(i * a_batch);
    pages_.resize(2 * box_.batches() * a_batch * kPageBytes / sizeof(Line));
    words_.resize(announce == Announce::bit ? 2 * box_.bit_words() : tags);
    released_.resize(tags);
    landing_.resize(tags * 2 * (max_bytes / kLineBytes + 1));
    box_.pages = reinterpret_cast<std::byte*>(pages_.data());
    box_.first_page = first_page_.data();
    box_.words = reinterpret_cast<std::uint32_t*>(words_.data());
    for (const wicprof::SiteId site : {1u, 2u}) set_strategy(site, strategy);
  }

  void set_strategy(wicprof::SiteId site, StrategyId strategy) {
    std::atomic_ref(strategies_[site].word).store((++changes_ << 8) | static_cast<std::uint32_t>(strategy));
  }
  Sender sender() {
    Sender tx;
    tx.view = view();
    tx.box = box_;
    tx.data_site = 1;
    tx.room_site = 2;
    tx.released = &released_[0].word;
    tx.released_stride = kLineWords;
    tx.lines = lines_.data();
    return tx;
  }
  Receiver receiver() {
    Receiver rx;
    rx.view = view();
    rx.box = box_;
    rx.data_site = 1;
    rx.room_site = 2;
    rx.released = &released_[0].word;
    rx.released_stride = kLineWords;
    if (box_.announce == Announce::count) {
      rx.landing = reinterpret_cast<std::byte*>(landing_.data());
      rx.landing_stride = (box_.max_bytes / kLineBytes + 1) * kLineBytes;
    }
    return rx;
  }
  const SenderLine& line(Tag tag) const { return lines_[tag]; }

 private:
  DeviceView view() {
    DeviceView v;
    v.strategies = strategies_.data();
    v.sites = sites_.data();
    v.watch = {watch_.data(), 16, 2};
    v.ring_heads = heads_.data();
    v.records = records_.data();
    v.ring_capacity_log2 = 10;
    v.sm_count = 2;
    return v;
  }

  Mailbox box_;
  std::vector<std::uint32_t> first_page_;
  std::vector<Line> pages_, landing_, words_;
  std::vector<WordLine> released_;
  std::vector<SenderLine> lines_;
  std::vector<StrategyWord> strategies_;
  std::vector<SiteMemory> sites_;
  std::vector<WatchSlot> watch_;
  std::vector<RingHead> heads_;
  std::vector<DeviceRecord> records_;
  std::uint32_t changes_ = 0;
};

struct Case {
  Announce announce;
  std::uint32_t max_bytes;
  StrategyId strategy;
};

class ChannelSchedules : public testing::TestWithParam<Case> {};

TEST_P(ChannelSchedules, EveryMessageArrivesAsSent) {
  constexpr std::uint32_t kTags = 3, kCycles = 7;
  const Case& c = GetParam();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    World memory(kTags, c.max_bytes, c.announce, c.strategy);
    std::vector<Line> buffers(kTags * (c.max_bytes / kLineBytes + 1));
    std::uint32_t counts[kCounts] = {};
    simt::DeterministicWorld world(seed);
    world.launch({kTags, 32}, kernel_ref(ReceiveAll{memory.receiver(), kCycles, kSecond, counts}));
    world.launch({kTags, 32},
                 kernel_ref(SendAll{memory.sender(), reinterpret_cast<std::byte*>(buffers.data()),
                                    (c.max_bytes / kLineBytes + 1) * kLineBytes, kCycles, kSecond, counts}));
    const auto run = world.run(20'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts[kTimedOut], 0u) << "seed " << seed;
    ASSERT_EQ(counts[kWrong], 0u) << "seed " << seed;
    ASSERT_EQ(counts[kReceived], kTags * kCycles) << "seed " << seed;
  }
}

// Requests over two words of bits, while producers change single bits and the strategy changes.
TEST_P(ChannelSchedules, RequestsForSeveralTags) {
  constexpr std::uint32_t kTags = 35, kCycles = 4;
  const Case& c = GetParam();
  std::vector<Tag> list(kTags);
  for (Tag tag = 0; tag < kTags; ++tag) list[tag] = (tag * 11 + 3) % kTags;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    World memory(kTags, c.max_bytes, c.announce, c.strategy);
    std::vector<Line> buffers(kTags * (c.max_bytes / kLineBytes + 1));
    std::uint32_t counts[kCounts] = {};
    simt::DeterministicWorld world(seed);
    const Tag* const as = seed % 2 == 0 ? list.data() : nullptr;
    world.launch({1, 32}, kernel_ref(ReceiveTogether{memory.receiver(), kCycles, kSecond, as, counts}));
    world.launch({kTags, 32},
                 kernel_ref(SendAll{memory.sender(), reinterpret_cast<std::byte*>(buffers.data()),
                                    (c.max_bytes / kLineBytes + 1) * kLineBytes, kCycles, kSecond, counts}));
    world.add_host_thread([&] {
      for (std::uint32_t i = 0; std::atomic_ref(counts[kReceived]).load() < kTags * kCycles && i < 100'000; ++i) {
        memory.set_strategy(1 + i % 2, kEvery[(seed + i / 2) % std::size(kEvery)]);
        world.host_sleep(5'000);
      }
    });
    const auto run = world.run(80'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts[kTimedOut], 0u) << "seed " << seed;
    ASSERT_EQ(counts[kWrong], 0u) << "seed " << seed;
    ASSERT_EQ(counts[kReceived], kTags * kCycles) << "seed " << seed;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const StrategyId strategy : kEvery) {
    all.push_back({Announce::word, 8, strategy});
    all.push_back({Announce::word, 90, strategy});
    all.push_back({Announce::bit, 300, strategy});
  }
  all.push_back({Announce::count, 100, StrategyId::naive});
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  constexpr const char* kNames[] = {"word", "bit", "count"};
  return std::string(kNames[static_cast<int>(info.param.announce)]) + std::to_string(info.param.max_bytes) + "_" +
         std::string(wicprof::strategy_name(info.param.strategy));
}
INSTANTIATE_TEST_SUITE_P(Simt, ChannelSchedules, testing::ValuesIn(cases()), case_name);

/// All blocks send each message of tag 0 together.
struct SendTogether {
  Sender tx;
  const std::byte* messages;  ///< of all cycles, max_bytes each
  std::uint32_t cycles;
  std::uint32_t* counts;

  WIC_DEVICE void operator()(const Thread& thread) const {
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      thread.sleep_ns(5'000 * ((thread.block() + cycle) % 3));  // one part is much later than the others
      const WaitResult sent =
          tx.send_part(thread, block_group(thread), 0, cycle, messages + std::size_t{cycle - 1} * tx.box.max_bytes,
                       length(0, cycle, tx.box.max_bytes), thread.block(), thread.block_count(), kSecond);
      if (sent.status != WaitStatus::satisfied) thread.fetch_add(&counts[kTimedOut], 1);
    }
  }
};

TEST(ChannelParts, AGridSendsOneMessageTogether) {
  constexpr std::uint32_t kCycles = 6, kBlocks = 3, kBytes = 700;
  alignas(16) static std::byte messages[kCycles * (kBytes + 4)];
  for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
    fill({messages + (cycle - 1) * (kBytes + 4), kBytes + 4}, 0, cycle);
  }
  for (const Announce announce : {Announce::bit, Announce::word}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      World memory(1, kBytes + 4, announce, StrategyId::poll);
      std::uint32_t counts[kCounts] = {};
      simt::DeterministicWorld world(seed);
      world.launch({1, 32}, kernel_ref(ReceiveAll{memory.receiver(), kCycles, kSecond, counts}));
      world.launch({kBlocks, 32}, kernel_ref(SendTogether{memory.sender(), messages, kCycles, counts}));
      const auto run = world.run(20'000'000);
      ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
      ASSERT_EQ(counts[kTimedOut], 0u) << "seed " << seed;
      ASSERT_EQ(counts[kWrong], 0u) << "seed " << seed;
      ASSERT_EQ(counts[kReceived], kCycles) << "seed " << seed;
    }
  }
}

/// Sends the same cycle twice, and a third cycle without free space.
struct SendTooMuch {
  Sender tx;
  const std::byte* message;
  std::uint32_t* statuses;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    const std::uint32_t cycles[] = {1, 1, 2, 3};
    for (std::uint32_t i = 0; i < 4; ++i) {
      const WaitResult sent =
          tx.send(thread, group, 0, cycles[i], message, length(0, cycles[i], tx.box.max_bytes), 20'000);
      if (thread.index() == 0) statuses[i] = static_cast<std::uint32_t>(sent.status);
    }
  }
};

TEST(ChannelFlow, ARepeatedCycleAndOneWithoutRoomAreNotAnnounced) {
  alignas(16) static std::byte message[300] = {};
  for (const Announce announce : {Announce::bit, Announce::word, Announce::count}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      World memory(1, 300, announce, StrategyId::poll);
      std::uint32_t statuses[4] = {9, 9, 9, 9};
      simt::DeterministicWorld world(seed);
      const Sender tx = memory.sender();
      world.launch({1, 64}, kernel_ref(SendTooMuch{tx, message, statuses}));
      const auto run = world.run(5'000'000);
      ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
      for (int i = 0; i < 3; ++i) EXPECT_EQ(statuses[i], static_cast<std::uint32_t>(WaitStatus::satisfied)) << i;
      EXPECT_EQ(statuses[3], static_cast<std::uint32_t>(WaitStatus::deadline_passed));
      EXPECT_EQ(memory.line(0).sent, 2u);
      const std::uint32_t expected = announce == Announce::word ? 1u : announce == Announce::bit ? 1u : 2u;
      EXPECT_EQ(*tx.box.word(0, 1), expected);
    }
  }
}

/// Sends cycles again, at once and after a later cycle has taken their slot.
struct SendAgain {
  Sender tx;
  const std::byte* messages;  ///< of cycles 1 to 3, max_bytes each
  std::uint32_t* released;

  WIC_DEVICE void send(const Thread& thread, std::uint32_t cycle, std::uint32_t message) const {
    tx.send(thread, block_group(thread), 0, cycle, messages + std::size_t{message - 1} * tx.box.max_bytes,
            length(0, message, tx.box.max_bytes), kSecond);
  }
  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    for (const std::uint32_t cycle : {1u, 1u, 2u}) send(thread, cycle, cycle);
    if (thread.index() == 0) thread.store_release(released, 1);
    thread.sync_block();
    const Place to = tx.place(thread, group, 0, 3, kSecond);
    const std::uint32_t bytes = length(0, 3, tx.box.max_bytes);
    copy_bytes(thread, thread.index(), thread.block_size(), to.data, messages + std::size_t{2} * tx.box.max_bytes,
               bytes);
    tx.publish(thread, group, 0, 3, bytes);
    send(thread, 3, 2);
    send(thread, 1, 1);
  }
};

TEST(ChannelFlow, ARepeatedCycleLeavesTheSlotUnchanged) {
  constexpr std::uint32_t kBytes = 304;
  alignas(16) static std::byte messages[3 * kBytes];
  for (std::uint32_t cycle = 1; cycle <= 3; ++cycle) fill({messages + (cycle - 1) * kBytes, kBytes}, 0, cycle);
  for (const Announce announce : {Announce::bit, Announce::word}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      World memory(1, kBytes, announce, StrategyId::poll);
      simt::DeterministicWorld world(seed);
      const Sender tx = memory.sender();
      world.launch({1, 96}, kernel_ref(SendAgain{tx, messages, const_cast<std::uint32_t*>(tx.released)}));
      const auto run = world.run(5'000'000);
      ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
      EXPECT_EQ(memory.line(0).sent, 3u);
      ASSERT_EQ(*tx.box.length(0, 3), length(0, 3, kBytes));
      EXPECT_EQ(wrong_bytes({tx.box.payload(0, 3), length(0, 3, kBytes)}, 0, 3), 0u) << "seed " << seed;
    }
  }
}

/// One block is the only part.
struct SendPartAgain {
  Sender tx;
  const std::byte* message;

  WIC_DEVICE void operator()(const Thread& thread) const {
    for (const std::uint32_t cycle : {1u, 1u, 2u, 2u, 1u}) {
      tx.send_part(thread, block_group(thread), 0, cycle, message, 300, 0, 1, kSecond);
    }
  }
};

TEST(ChannelParts, ARepeatedCycleIsNotCounted) {
  alignas(16) static std::byte message[300] = {};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    World memory(1, 300, Announce::word, StrategyId::poll);
    simt::DeterministicWorld world(seed);
    world.launch({1, 96}, kernel_ref(SendPartAgain{memory.sender(), message}));
    const auto run = world.run(5'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    EXPECT_EQ(memory.line(0).sent, 2u);
    for (const std::uint32_t parts : memory.line(0).parts) EXPECT_EQ(parts, 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace wic::test
