// Helpers for programs that span devices: parts, distribution of work, grids, failures, and checks of fields.
#include "common/ranks.h"

#include <gtest/gtest.h>

#include <map>

#include "common/replay.h"
#include "make_app.h"

namespace sample {
namespace {

TEST(PartsTest, AreConsecutiveAndDifferByAtMostOne) {
  for (const std::uint32_t count : {0u, 1u, 7u, 100u, 4'000'000'000u}) {
    for (const std::uint32_t parts : {1u, 2u, 3u, 7u, 64u}) {
      EXPECT_EQ(part_begin(count, parts, 0), 0u);
      EXPECT_EQ(part_begin(count, parts, parts), count);
      for (std::uint32_t i = 0; i < parts; ++i) {
        const std::uint32_t size = part_begin(count, parts, i + 1) - part_begin(count, parts, i);
        EXPECT_GE(size, count / parts);
        EXPECT_LE(size, count / parts + 1);
      }
    }
  }
}

TEST(InverseTest, TimesTheNumberIsOne) {
  for (const std::uint32_t odd : {1u, 3u, 9u, 11u, 169u, 0x80000001u, 0xffffffffu})
    EXPECT_EQ(inverse_of(odd) * odd, 1u);
}

struct Deal {
  std::uint32_t waiting, chunks;
  std::uint32_t* blocks_of;  // per chunk: 1 + the block that processed it, or 0xffff for several blocks

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    deal_chunks(thread, waiting, chunks, [&](std::uint32_t chunk) {
      if (thread.index() != 0) return;
      const std::uint32_t before = thread.exchange(&blocks_of[chunk], thread.block() + 1);
      if (before != 0) thread.store(&blocks_of[chunk], 0xffff);
    });
  }
};

TEST(DealTest, EveryChunkGoesToOneBlockAndAWaitingBlockGetsAtMostOne) {
  const auto runtime = sample_test::make_runtime(1, Way::poll);
  wic::Device& device = runtime->device(0);
  const auto stream = *device.make_stream();
  for (const std::uint32_t blocks : {1u, 2u, 5u, 8u}) {
    for (const std::uint32_t waiting : {0u, 1u, 2u, 5u, 8u}) {
      for (const std::uint32_t chunks : {0u, 1u, 4u, 23u}) {
        const auto had = *wic::Array<std::uint32_t>::make(device, chunks + 1, wic::Memory::pinned_host);
        ASSERT_TRUE(wic::launch(*stream, {blocks, 32}, Deal{waiting, chunks, had.data()}));
        ASSERT_TRUE(stream->synchronize());
        std::map<std::uint32_t, std::uint32_t> of_block;
        for (std::uint32_t c = 0; c < chunks; ++c) {
          ASSERT_GE(had[c], 1u) << blocks << " blocks, " << waiting << " waiting, chunk " << c;
          ASSERT_LE(had[c], blocks) << blocks << " blocks, " << waiting << " waiting, chunk " << c;
          ++of_block[had[c] - 1];
        }
        EXPECT_EQ(had[chunks], 0u);
        if (blocks <= waiting) continue;
        for (std::uint32_t b = 0; b < waiting; ++b) EXPECT_LE(of_block[b], 1u);
      }
    }
  }
}

struct Idle {
  WIC_DEVICE void operator()(const wic::Thread&) const {}
};

TEST(GridTest, FitsAllWaitingBlocksOrIsRefused) {
  const auto runtime = sample_test::make_runtime(1, Way::poll);
  wic::Device& device = runtime->device(0);
  const std::uint32_t resident_limit = *device.resident_blocks({1, 64}, wic::kernel_ref(Idle{}));
  const auto blocks = [&](const AppOptions& options, std::uint32_t tasks, std::uint32_t chunks, std::uint32_t sharing) {
    const auto grid = choose_grid(device, wic::kernel_ref(Idle{}), {1, 64}, options, tasks, chunks, sharing);
    return grid ? grid->blocks : 0;
  };
  const AppOptions standard;
  EXPECT_EQ(blocks(standard, 3, 1, 1), 4u);
  EXPECT_EQ(blocks(standard, 3, 1'000'000, 1), 3 + device.properties().sm_count);
  EXPECT_EQ(blocks(standard, resident_limit, 10, 1), 0u) << "no space for a computing block";
  EXPECT_EQ(blocks(standard, resident_limit / 2, 10, 2), 0u);
  AppOptions asked;
  asked.blocks = 1;
  EXPECT_EQ(blocks(asked, resident_limit, 10, 1), 1u) << "one block has all tasks";
  asked.blocks = 16'000;
  EXPECT_EQ(blocks(asked, 2, 10, 1), 16'000u) << "blocks that do not wait need not be resident together";
}

TEST(GridTest, ThreadsAreWholeWarps) {
  AppOptions options;
  EXPECT_EQ(*choose_threads(options, 256, 512), 64u);
  options.on_gpu = true;
  EXPECT_EQ(*choose_threads(options, 256, 512), 256u);
  for (const std::uint32_t wrong : {16u, 33u, 544u}) {
    options.block_size = wrong;
    EXPECT_FALSE(choose_threads(options, 256, 512)) << wrong;
  }
}

struct Report {
  Failure* failure;
  std::uint32_t iteration;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, iteration)) return;
    if (thread.index() == 0) failure->report(thread, iteration, 0, 5, thread.block() == 1);
  }
};

TEST(FailureTest, TheFirstMissedDeadlineStopsLaterIterations) {
  const auto runtime = sample_test::make_runtime(2, Way::poll);
  std::vector<RankQueue> queues;
  for (std::uint32_t d = 0; d < 2; ++d) queues.push_back(*RankQueue::make(runtime->device(d)));
  ASSERT_TRUE(finish_all(queues, "app"));
  for (const std::uint32_t iteration : {7u, 8u}) {
    ASSERT_TRUE(wic::launch(queues[1].stream(), {1, 32}, Report{queues[1].failure(), iteration}));
  }
  const auto finished = finish_all(queues, "app");
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(finished.error().message.find("iteration 7: device 1 waited at app.0-1.data for message 5"),
            std::string::npos)
      << finished.error().message;
  EXPECT_EQ(queues[1].finish()->missed, 1u);
}

// A field whose iterations swap neighbours; it can make one iteration wrong.
struct Swaps {
  Words field{1, 2, 3, 4};
  std::uint32_t done = 0;
  std::uint32_t wrong_at = 0;

  std::uint32_t iterations() const { return done; }
  Words initial() const { return {1, 2, 3, 4}; }
  wicprof::Result<Words> gather() { return field; }
  wicprof::Result<> iterate(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      advance(field, 1);
      if (++done == wrong_at) std::swap(field[0], field[2]);
    }
    return wicprof::ok();
  }
  void advance(Words& words, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count % 2; ++i) std::swap(words[0], words[1]);
  }
  std::string where(std::size_t i) const { return "place " + std::to_string(i); }
};

TEST(ReplayTest, RepeatsAShortRunFromTheStart) {
  Swaps swaps;
  ASSERT_TRUE(swaps.iterate(5));
  EXPECT_TRUE(check_by_replay(swaps));
  EXPECT_EQ(swaps.done, 5u);
  swaps.field[2] += 1;
  const auto checked = check_by_replay(swaps);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "1 wrong words after iteration 5, the first at place 2: 4, should be 3");
}

TEST(ReplayTest, ChecksTheSumOfALongRunAndSomeExtraIterations) {
  const std::uint32_t many = static_cast<std::uint32_t>(ReplayPlan::kMaxUpdates / 4) + 1;
  Swaps swaps;
  swaps.done = many;
  EXPECT_TRUE(check_by_replay(swaps));
  EXPECT_EQ(swaps.done, many + ReplayPlan::kExtraIterations);
  swaps.wrong_at = swaps.done + 3;
  EXPECT_FALSE(check_by_replay(swaps)) << "a wrong iteration among the extra ones";
  swaps.field[3] ^= 1;
  const auto checked = check_by_replay(swaps);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("the sum of all words"), std::string::npos) << checked.error().message;
}

TEST(ReplayTest, RepeatsAtLeastOneIterationOfALargeField) {
  EXPECT_EQ(ReplayPlan::for_words(std::size_t{1} << 40).max_iterations, 1u);
  EXPECT_EQ(ReplayPlan::for_words(ReplayPlan::kMaxUpdates / 4).max_iterations, 4u);
  EXPECT_EQ(ReplayPlan{4}.extra_after(4), 0u);
  EXPECT_EQ(ReplayPlan{4}.extra_after(5), 4u);
}

}  // namespace
}  // namespace sample
