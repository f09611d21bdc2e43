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
#include "tiles/gemm_pair.h"
#include "tiles/row_parts.h"

namespace sample::tiles {
namespace {

using sample_test::make_runtime;
using sample_test::run;

/// f(left * transposed right), in double.
std::vector<double> product(const std::vector<double>& left, const Bf16* right, std::uint32_t rows,
                            std::uint32_t columns, std::uint32_t depth, bool gelu) {
  std::vector<double> result(std::size_t{rows} * columns);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::uint32_t k = 0; k < depth; ++k) {
        sum += left[std::size_t{r} * depth + k] * to_float(right[std::size_t{c} * depth + k]);
      }
      if (gelu) sum = 0.5 * sum * (1 + std::tanh(0.7978845608 * (sum + 0.044715 * sum * sum * sum)));
      result[std::size_t{r} * columns + c] = sum;
    }
  }
  return result;
}

std::vector<double> numbers(const Bf16* from, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = to_float(from[i]);
  return result;
}

double worst(const std::vector<double>& is, const std::vector<double>& wanted) {
  double error = 0;
  for (std::size_t i = 0; i < is.size(); ++i) error = std::max(error, std::abs(is[i] - wanted[i]));
  return error;
}

// Batches below and above the tiles' rows, and depths that no tile divides.
TEST(TilesPair, EveryPlanComputesBothProducts) {
  const auto runtime = make_runtime(1, sample::Way::poll);
  const auto site = runtime->add_site({.name = "tiles.row", .word_memory = wic::WordMemory::device});
  ASSERT_TRUE(site);
  auto stream = runtime->device(0).make_stream();
  ASSERT_TRUE(stream);
  const PairSize size{130, 40, 136, 24};
  auto made = GemmPair::make(*runtime, {*site}, 30 * wic::kSecond, **stream, size);
  ASSERT_TRUE(made) << made.error().message;
  GemmPair& pair = **made;
  for (const std::uint32_t batch : {1u, 130u}) {
    const std::vector<double> input = numbers(pair.input(), std::size_t{batch} * size.input);
    const auto hidden = product(input, pair.weights(0), batch, size.hidden, size.input, true);
    for (const TileSize tile : {TileSize::large, TileSize::square, TileSize::small, TileSize::narrow, TileSize::slim}) {
      for (const PairPlan& plan : {PairPlan{tile, Way::stream_order, 1}, PairPlan{tile, Way::dependent_launch, 2},
                                   PairPlan{tile, Way::tiles, 1}, PairPlan{tile, Way::tiles, 2, 1}}) {
        const std::string name = plan.name() + ", batch " + std::to_string(batch);
        // GemmPair::check() overwrites both results first.
        const auto checked = pair.check(**stream, plan, batch);
        ASSERT_TRUE(checked) << checked.error().message;
        const auto is = numbers(pair.hidden(), hidden.size());
        EXPECT_LT(worst(is, hidden), 0.02) << name;
        // From the rounded numbers that the second product reads.
        const auto output = product(is, pair.weights(1), batch, size.output, size.hidden, false);
        EXPECT_LT(worst(numbers(pair.output(), output.size()), output), 0.02) << name;
      }
    }
  }
}

TEST(TilesPair, PartsOfARowHoldAllOfItsTiles) {
  for (const std::uint32_t columns : {1u, 5u, 6u}) {
    for (const std::uint32_t together : {1u, 2u, 4u, 6u}) {
      const RowParts policy{{columns, 3}, together};
      std::vector<std::uint32_t> tiles(policy.semaphores());
      for (std::uint32_t row = 0; row < 3; ++row) {
        for (std::uint32_t column = 0; column < columns; ++column) ++tiles.at(policy.semaphore({column, row}));
      }
      for (std::uint32_t s = 0; s < tiles.size(); ++s)
        EXPECT_EQ(tiles[s], policy.tiles(s)) << columns << " " << together;
    }
  }
}

TEST(TilesProgram, EveryWayIsCorrect) {
  for (const char* arguments : {"--pair mlp --way stream", "--pair mlp --way dependent", "--pair mlp --way tiles",
                                "--pair mlp --way tiles --batch 65 --wait park", "--pair vector --way stream",
                                "--pair vector --way tiles", "--pair vector --way tiles --wait park"}) {
    const auto result = run(TILES, std::string("--iterations 3 --timeout 60 ") + arguments);
    EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
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
  const auto choice = [](const std::string& output) { return output.substr(0, output.find(" times as fast")); };
  EXPECT_EQ(choice(first.output).substr(0, choice(first.output).rfind(',')),
            choice(again.output).substr(0, choice(again.output).rfind(',')));
  // A choice of plans that the program no longer has is measured again.
  std::ofstream(file) << "CPU device (simt), batch 192\tno such plan\t1\t2\t3\n";
  const auto unknown = run(TILES, arguments);
  EXPECT_TRUE(unknown.ok()) << unknown.output;
  EXPECT_EQ(unknown.output.find("no such plan"), std::string::npos) << unknown.output;
  std::ofstream(file) << "not a choice\n";
  EXPECT_EQ(run(TILES, arguments).status, 2);
  std::filesystem::remove(file);
}

TEST(TilesProgram, RefusesBadUsageAndMissingGpus) {
  EXPECT_EQ(run(TILES, "--pair conv").status, 2);
  EXPECT_EQ(run(TILES, "--pair vector --way tuned").status, 2);
  const auto result = run(TILES, "--devices cuda:99");
  EXPECT_TRUE(result.status == 2 || result.status == sample_test::kMachineCannot) << result.output;
  EXPECT_NE(result.output.find("tiles: "), std::string::npos) << result.output;
}

}  // namespace
}  // namespace sample::tiles
