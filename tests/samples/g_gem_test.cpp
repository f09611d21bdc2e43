// g_gem: tiles, panels, the reference and its checks, and the program.
#include <gtest/gtest.h>

#include "g_gem/app.h"
#include "g_gem/product.h"
#include "make_app.h"

namespace sample::gem {
namespace {

using sample_test::make_runtime;
using sample_test::options_of;

TEST(GemReferenceTest, ASmallProduct) {
  const Product product(2, {1, 2, 3, 4}, {5, 6, 7, 8});
  EXPECT_EQ(product.row(0), (Words{19, 22}));
  EXPECT_EQ(product.row(1), (Words{43, 50}));
  EXPECT_TRUE(product.check_all_rows({19, 22, 43, 50}));
  EXPECT_TRUE(product.check_by_vectors({19, 22, 43, 50}));
  const auto wrong = product.check_all_rows({19, 22, 43, 51});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "1 wrong words in row 1 of C, the first in column 1: 51, should be 50");
}

TEST(GemReferenceTest, TheClosedFormEqualsTheSumOfAllSteps) {
  Words b{0, 7, 0xffffffff}, sum(3);
  const Words begin = b;
  for (std::uint32_t step = 1; step <= 5; ++step) {
    for (std::size_t i = 0; i < b.size(); ++i) sum[i] += b[i] = 3 * b[i] + 1;
    EXPECT_EQ(sum_of_steps(begin, step), sum) << step;
  }
}

TEST(GemReferenceTest, RandomVectorsFindAnyWrongWord) {
  constexpr std::uint32_t kSide = 20;
  const Product product(kSide, matrix_of(kSide, 0), matrix_of(kSide, 1));
  Words c;
  for (std::uint32_t i = 0; i < kSide; ++i) {
    const Words row = product.row(i);
    c.insert(c.end(), row.begin(), row.end());
  }
  ASSERT_TRUE(product.check_by_vectors(c));
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (const std::uint32_t error : {1u, 0x10000u, 0x40000000u}) {
      c[i] += error;
      EXPECT_FALSE(product.check_by_vectors(c)) << "word " << i << " off by " << error;
      c[i] -= error;
    }
  }
}

TEST(PanelsTest, TilesCoverTheBandsInOrder) {
  for (const auto& [n, devices, panels, tiles] :
       {std::tuple{32u, 2u, 4u, 4u}, {37u, 2u, 3u, 5u}, {101u, 4u, 2u, 7u}, {9u, 3u, 1u, 1u}}) {
    const Panels p{n, devices, panels, tiles};
    std::uint32_t row = 0;
    for (std::uint32_t d = 0; d < devices; ++d) {
      EXPECT_EQ(p.band_begin(d), row);
      for (std::uint32_t panel = 0; panel < panels; ++panel) {
        EXPECT_EQ(p.panel_begin(d, panel), row);
        std::uint32_t rows = 0;
        for (std::uint32_t tile = 0; tile < tiles; ++tile) {
          EXPECT_EQ(p.tile_begin(d, panel, tile), row);
          const std::uint32_t size = p.tile_begin(d, panel, tile + 1) - row;
          EXPECT_GE(size, 1u);
          EXPECT_LE(size, p.most_tile_rows());
          row += size;
          rows += size;
        }
        EXPECT_EQ(p.panel_rows(d, panel), rows);
      }
    }
    EXPECT_EQ(row, n);
  }
}

struct Multiply {
  Matrices matrices;
  Factor factor;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t tiles = Tiling::tiles(thread.block_size(), matrices.rows, matrices.n);
    for (std::uint32_t tile = thread.block(); tile < tiles; tile += thread.block_count()) {
      multiply_tile(thread, matrices, tile, factor);
    }
  }
};

TEST(TileTest, ProductsOfAnyShapeByBlocksOfAnySize) {
  const auto runtime = make_runtime(1, Way::poll);
  wic::Device& device = runtime->device(0);
  const auto stream = *device.make_stream();
  for (const std::uint32_t threads : {32u, 64u, 96u, 512u}) {
    for (const auto& [n, rows, first, count] : {std::tuple{1u, 1u, 0u, 1u},
                                                {65u, 33u, 3u, 17u},
                                                {64u, 16u, 0u, 64u},
                                                {70u, 70u, 69u, 1u},
                                                {40u, 3u, 5u, 0u}}) {
      const auto a = *wic::Array<Word>::make(device, std::size_t{rows} * n, wic::Memory::pinned_host);
      const auto b = *wic::Array<Word>::make(device, std::size_t{count} * n + 1, wic::Memory::pinned_host);
      const auto c = *wic::Array<Word>::make(device, std::size_t{rows} * n + 1, wic::Memory::pinned_host);
      Words expected(c.size());
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = scrambled(i);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = scrambled(i + 1'000'000);
      for (std::size_t i = 0; i < c.size(); ++i) expected[i] = c[i] = scrambled(i + 2'000'000);
      for (std::uint32_t i = 0; i < rows; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) {
          for (std::uint32_t k = 0; k < count; ++k) expected[i * n + j] += a[i * n + first + k] * b[k * n + j];
        }
      }
      const Multiply kernel{{a.data(), c.data(), rows, n}, {{b.data(), count}, first}};
      ASSERT_TRUE(wic::launch(*stream, {2, threads, Tiling::shared_bytes(threads)}, kernel));
      ASSERT_TRUE(stream->synchronize());
      EXPECT_EQ(Words(c.data(), c.data() + c.size()), expected)
          << n << ", " << rows << " rows, " << threads << " threads";
    }
  }
}

AppOptions small(Way way, std::uint32_t size, const char* panels, const char* tiles) {
  AppOptions options = options_of(g_gem_info(), size, way);
  options.more["panels"] = panels;
  options.more["tiles"] = tiles;
  return options;
}

wicprof::Result<> run(std::uint32_t devices, const AppOptions& options) {
  const auto runtime = make_runtime(devices, options.way);
  auto program = BlockedProduct::make(*runtime, options);
  if (!program) return program.error();
  for (std::uint32_t step = 1; step <= 2; ++step) {
    if (auto done = (*program)->step(step); !done) return done;
  }
  return (*program)->check();
}

TEST(GemTest, IsCorrectInEveryWayAtEverySizeOnTwoToFourDevices) {
  for (const Way way : {Way::naive, Way::poll, Way::park}) {
    for (const auto& [devices, size, panels, tiles] :
         {std::tuple{2u, 2u, "1", "1"}, {2u, 33u, "2", "3"}, {3u, 50u, "4", "4"}, {4u, 41u, "1", "5"}}) {
      const auto done = run(devices, small(way, size, panels, tiles));
      EXPECT_TRUE(done) << size << " on " << devices << ": " << done.error().message;
    }
  }
}

TEST(GemTest, AnyNumberOfThreadsGivesTheSameResult) {
  for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {2u, 96u}, {5u, 256u}, {50u, 32u}}) {
    AppOptions options = small(Way::park, 40, "2", "3");
    options.blocks = blocks;
    options.block_size = threads;
    const auto done = run(3, options);
    EXPECT_TRUE(done) << blocks << " blocks of " << threads << ": " << done.error().message;
  }
}

// A device sends its band of B, so a wrong word in the band is both a wrong message and a wrong local factor.
TEST(GemTest, AWrongWordOfAMessageIsFound) {
  const auto runtime = make_runtime(2, Way::park);
  auto program = BlockedProduct::make(*runtime, small(Way::park, 32, "2", "2"));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE((*program)->step(1));
  ASSERT_TRUE((*program)->check());
  (*program)->band_of_b(1)[7] ^= 1;
  ASSERT_TRUE((*program)->step(2));
  const auto checked = (*program)->check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(checked.error().message.find("wrong words in row 0 of C, the first in column 7"), std::string::npos)
      << checked.error().message;
}

TEST(GemTest, InvalidSizesAreRefused) {
  for (const auto& [devices, size] : {std::pair{2u, 31u}, {2u, 20'000u}, {4u, 60u}}) {
    const auto done = run(devices, small(Way::poll, size, "4", "4"));
    ASSERT_FALSE(done) << size << " on " << devices;
    EXPECT_EQ(done.error().kind, wicprof::ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace sample::gem
