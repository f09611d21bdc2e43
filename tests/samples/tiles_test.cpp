// The tiles sample on the CPU device: its products against plain loops on the host, and the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "make_app.h"
#include "program.h"
#include "tiles/network_chain.h"
#include "tiles/parts.h"

namespace sample::tiles {
namespace {

using sample_test::make_runtime;
using sample_test::run;

std::vector<ChainPlan> all_plans(TileSize tile) {
  return {{tile, Way::stream_order, Share::row, 1},
          {tile, Way::dependent_launch, Share::row, 2},
          {tile, Way::tiles, Share::row, 1},
          {tile, Way::tiles, Share::slice, 2},
          {tile, Way::tiles, Share::tile, 2}};
}

// A network on the CPU device.
class Networks : public testing::Test {
 protected:
  void SetUp() override {
    runtime_ = make_runtime(1, sample::Way::poll);
    site_ = *runtime_->add_site({.name = "tiles.row", .word_memory = wic::WordMemory::device});
    stream_ = std::move(*runtime_->device(0).make_stream());
  }
  void make(const Network& network) {
    auto made = NetworkChain::make(*runtime_, {site_}, 30 * wic::kSecond, *stream_, network);
    ASSERT_TRUE(made) << made.error().message;
    chain_ = std::move(*made);
  }
  /// check() overwrites all results first.
  void check(const ChainPlan& plan) {
    const auto checked = chain_->check(*stream_, plan);
    ASSERT_TRUE(checked) << checked.error().message;
  }
  double at(std::size_t matrix, std::uint32_t row, std::uint32_t column) const {
    return to_float(chain_->matrix(matrix)[std::size_t{row} * chain_->network().matrices[matrix].columns + column]);
  }
  /// The largest distance of a matrix's numbers from what wanted(row, column) says.
  template <class Wanted>
  double worst(std::size_t matrix, const Wanted& wanted, std::uint32_t first_row = 0) const {
    const MatrixSpec& spec = chain_->network().matrices[matrix];
    double error = 0;
    for (std::uint32_t row = first_row; row < spec.rows; ++row) {
      for (std::uint32_t column = 0; column < spec.columns; ++column) {
        const double distance = std::abs(at(matrix, row, column) - wanted(row, column));
        error = distance <= error ? error : distance;  // not-a-number counts
      }
    }
    return error;
  }

  std::unique_ptr<wic::Runtime> runtime_;
  wic::SiteId site_ = 0;
  std::unique_ptr<wic::Stream> stream_;
  std::unique_ptr<NetworkChain> chain_;
};

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }

// Batches below and above the tiles' rows, and depths that no tile divides.
TEST_F(Networks, FeedForwardComputesBothProducts) {
  for (const std::uint32_t batch : {1u, 130u}) {
    make(feed_forward(batch, 40, 136));
    for (const TileSize tile : kTileSizes) {
      for (const ChainPlan& plan : all_plans(tile)) {
        check(plan);
        const auto product = [&](std::size_t left, std::size_t right, std::uint32_t depth, std::uint32_t row,
                                 std::uint32_t column) {
          double sum = 0;
          for (std::uint32_t k = 0; k < depth; ++k) sum += at(left, row, k) * at(right, column, k);
          return sum;
        };
        if (plan.way == Way::tiles && tile != TileSize::large) continue;  // check() has compared the bits
        EXPECT_LT(worst(2, [&](auto row, auto column) { return gelu(product(0, 1, 40, row, column)); }), 0.02);
        EXPECT_LT(worst(4, [&](auto row, auto column) { return product(2, 3, 136, row, column); }), 0.02);
      }
    }
  }
}

// Rows beyond a tile, keys that were there before, and heads that share tiles of the first product.
TEST_F(Networks, AttentionComputesEachOfItsKernels) {
  constexpr std::uint32_t kHeads = 2, kHead = 64, kInner = kHeads * kHead;
  for (const auto& [batch, keys] : {std::pair{66u, 128u}, std::pair{1u, 64u}}) {
    make(attention(batch, keys, 40, kHeads, kHead));
    const std::uint32_t before = keys - batch;
    for (const TileSize tile : {TileSize::large, TileSize::small, TileSize::narrow}) {
      for (const ChainPlan& plan : all_plans(tile)) check(plan);
    }
    const auto sum_over = [](std::uint32_t count, const auto& term) {
      double sum = 0;
      for (std::uint32_t k = 0; k < count; ++k) sum += term(k);
      return sum;
    };
    EXPECT_LT(worst(
                  2,
                  [&](std::uint32_t row, std::uint32_t column) {
                    return sum_over(40, [&](auto k) { return at(0, row - before, k) * at(1, column, k); });
                  },
                  before),
              0.02);
    EXPECT_LT(
        worst(3,
              [&](std::uint32_t row, std::uint32_t column) {
                const std::uint32_t head = column / keys * kHead, key = column % keys;
                return sum_over(kHead,
                                [&](auto k) { return at(2, before + row, head + k) * at(2, key, kInner + head + k); }) /
                       8;
              }),
        0.02);
    // Dropout makes about a tenth of the shares 0, and lets the others grow.
    std::uint32_t dropped = 0;
    EXPECT_LT(worst(4,
                    [&](std::uint32_t row, std::uint32_t column) {
                      if (at(4, row, column) == 0) {
                        ++dropped;
                        return 0.0;
                      }
                      const std::uint32_t first = column / keys * keys;
                      const double all = sum_over(keys, [&](auto k) { return std::exp(at(3, row, first + k)); });
                      return std::exp(at(3, row, column)) / all * 256 / (256 - 26);
                    }),
              0.001);
    const double share = dropped / (1.0 * kHeads * batch * keys);
    EXPECT_GT(share, 0.05);
    EXPECT_LT(share, 0.16);
    EXPECT_LT(worst(5,
                    [&](std::uint32_t row, std::uint32_t column) {
                      return sum_over(keys, [&](auto k) {
                        return at(4, row, column / kHead * keys + k) * at(2, k, 2 * kInner + column);
                      });
                    }),
              0.01);
    EXPECT_LT(worst(7,
                    [&](std::uint32_t row, std::uint32_t column) {
                      return sum_over(kInner, [&](auto k) { return at(5, row, k) * at(6, column, k); });
                    }),
              0.02);
  }
}

TEST_F(Networks, ConvolutionsReadTheirNeighboursAndZerosAtTheMargin) {
  constexpr std::uint32_t kSide = 9, kChannels = 64, kImages = 2;
  make(convolutions(kImages, kSide, kChannels));
  for (const TileSize tile : {TileSize::small, TileSize::tall, TileSize::square}) {
    for (const ChainPlan& plan : all_plans(tile)) check(plan);
  }
  const auto convolution = [&](std::size_t from, std::size_t weights, std::uint32_t pixel, std::uint32_t column) {
    const int x = static_cast<int>(pixel % kSide), y = static_cast<int>(pixel / kSide % kSide);
    double sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (x + dx < 0 || x + dx >= int{kSide} || y + dy < 0 || y + dy >= int{kSide}) continue;
        const auto neighbour = static_cast<std::uint32_t>(static_cast<int>(pixel) + dy * int{kSide} + dx);
        const auto tap = static_cast<std::uint32_t>((dy + 1) * 3 + dx + 1);
        for (std::uint32_t k = 0; k < kChannels; ++k) {
          sum += at(from, neighbour, k) * at(weights, column, tap * kChannels + k);
        }
      }
    }
    return std::max(0.0, sum);
  };
  EXPECT_LT(worst(2, [&](auto row, auto column) { return convolution(0, 1, row, column); }), 0.02);
  EXPECT_LT(worst(4, [&](auto row, auto column) { return convolution(2, 3, row, column); }), 0.02);
}

TEST(TilesParts, EachTileBelongsToOneSemaphoreOfTheSaidSize) {
  for (const std::uint32_t columns : {1u, 5u, 6u, 12u}) {
    for (const std::uint32_t stride : {1u, 4u, 6u, 12u}) {
      for (const std::uint32_t columns_together : {1u, 2u, 4u}) {
        for (const std::uint32_t rows_together : {1u, 2u, 3u}) {
          if (stride > columns || columns_together > stride) continue;
          const Parts policy{{columns, 5}, rows_together, columns_together, stride};
          std::vector<std::uint32_t> tiles(policy.semaphores());
          for (std::uint32_t row = 0; row < 5; ++row) {
            for (std::uint32_t column = 0; column < columns; ++column) ++tiles.at(policy.semaphore({column, row}));
          }
          for (std::uint32_t s = 0; s < tiles.size(); ++s) {
            EXPECT_EQ(tiles[s], policy.tiles(s)) << columns << " " << stride << " " << columns_together;
          }
        }
      }
    }
  }
}

TEST(TilesProgram, EveryWayIsCorrect) {
  for (const char* arguments : {"--pair mlp --way stream", "--pair mlp --way dependent", "--pair mlp --way tiles",
                                "--pair mlp --way tiles --batch 65 --wait park", "--pair attention --way stream",
                                "--pair attention --way dependent", "--pair attention --way tiles --wait park",
                                "--pair conv --way stream", "--pair conv --way tiles", "--pair vector --way stream",
                                "--pair vector --way tiles", "--pair vector --way tiles --wait park"}) {
    const auto result = run(TILES, std::string("--iterations 3 --timeout 60 ") + arguments);
    EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
  }
}

// On a GPU: the products on tensor cores, against plain loops and in each way the same bits.
TEST(TilesProgram, EveryWayIsCorrectOnAGpu) {
  for (const char* pair :
       {"mlp --batch 130", "attention --batch 130", "attention --batch 2", "conv --batch 3", "vector"}) {
    for (const char* way : {"dependent", "tiles", "tiles --wait park"}) {
      const std::string arguments =
          std::string("--devices cuda:0 --iterations 3 --timeout 30 --pair ") + pair + " --way " + way;
      const auto result = run(TILES, arguments);
      if (result.status == sample_test::kMachineCannot) GTEST_SKIP() << result.output;
      EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
    }
  }
}

TEST(TilesProgram, TheTunersChoiceIsShownAndKept) {
  const std::string file = std::filesystem::temp_directory_path() / ("tiles_test_" + std::to_string(::getpid()));
  std::filesystem::remove(file);
  const std::string arguments = "--iterations 1 --timeout 60 --way tuned --choices " + file;
  const auto first = run(TILES, arguments);
  EXPECT_TRUE(first.ok()) << first.output;
  ASSERT_TRUE(std::filesystem::exists(file)) << first.output;
  const auto again = run(TILES, arguments);  // measures nothing
  EXPECT_TRUE(again.ok()) << again.output;
  EXPECT_NE(first.output.find("the tuner's choice for"), std::string::npos) << first.output;
  const auto choice = [](const std::string& output) { return output.substr(0, output.find(" over stream order")); };
  EXPECT_EQ(choice(first.output).substr(0, choice(first.output).rfind(',')),
            choice(again.output).substr(0, choice(again.output).rfind(',')));
  // A choice of plans that the program no longer has is measured again.
  std::ofstream(file) << "CPU device (simt), mlp, batch 192\tno such plan\t1\t2\t3\n";
  const auto unknown = run(TILES, arguments);
  EXPECT_TRUE(unknown.ok()) << unknown.output;
  EXPECT_EQ(unknown.output.find("no such plan"), std::string::npos) << unknown.output;
  std::ofstream(file) << "not a choice\n";
  EXPECT_EQ(run(TILES, arguments).status, 2);
  std::filesystem::remove(file);
}

TEST(TilesProgram, RefusesBadUsageAndMissingGpus) {
  EXPECT_EQ(run(TILES, "--pair pooling").status, 2);
  EXPECT_EQ(run(TILES, "--pair vector --way tuned").status, 2);
  const auto result = run(TILES, "--devices cuda:99");
  EXPECT_TRUE(result.status == 2 || result.status == sample_test::kMachineCannot) << result.output;
  EXPECT_NE(result.output.find("tiles: "), std::string::npos) << result.output;
}

}  // namespace
}  // namespace sample::tiles
