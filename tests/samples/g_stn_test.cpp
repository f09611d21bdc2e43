// g_stn: the stencil, the reference, slabs, and the program.
#include <gtest/gtest.h>

#include "g_stn/app.h"
#include "g_stn/heat.h"
#include "make_app.h"

namespace sample::stn {
namespace {

using sample_test::make_runtime;
using sample_test::options_of;

TEST(StnReferenceTest, OneCellSpreadsAndExchanges) {
  constexpr std::uint32_t kSide = 4;
  Words cube(kFields * kSide * kSide * kSide);
  const auto at = [&](std::uint32_t field, std::uint32_t x, std::uint32_t y, std::uint32_t z) -> std::uint32_t& {
    return cube[plane_at(kSide, z, field) + y * kSide + x];
  };
  at(0, 1, 2, 1) = 9;
  at(1, 0, 0, 3) = 11;  // in a corner: three shares stay in the cell
  step_cube(cube, kSide, 1);
  EXPECT_EQ(at(0, 1, 2, 1), 3u - 9 * kExchange);
  EXPECT_EQ(at(1, 1, 2, 1), 9 * kExchange);
  EXPECT_EQ(at(0, 0, 2, 1), 1u);
  EXPECT_EQ(at(0, 1, 3, 1), 1u);
  EXPECT_EQ(at(0, 1, 2, 0), 1u);
  EXPECT_EQ(at(0, 1, 2, 2), 1u);
  EXPECT_EQ(at(0, 2, 3, 1), 0u) << "cells that share only an edge are not neighbours";
  EXPECT_EQ(at(1, 0, 0, 3), 5u + 3 - 11 * kExchange);
  EXPECT_EQ(at(0, 0, 0, 3), 11 * kExchange);
  EXPECT_EQ(at(1, 0, 0, 2), 1u);
}

TEST(StnReferenceTest, KeepsTheTotalButNotTheCells) {
  const Words begin = initial_cube(7);
  Words cube = begin;
  step_cube(cube, 7, 3);
  EXPECT_EQ(total_of(cube), total_of(begin));
  EXPECT_FALSE(compare_words(cube, begin, 3, [](std::size_t) { return std::string(); }));
}

// One time step of two slabs by hand, like the kernels. `messages`: the planes beyond the border, first the upper
// slab's lowest height, then the lower slab's highest height.
Words stepped_in_slabs(const Words& cube, std::uint32_t n, std::uint32_t cut, const Words& messages) {
  Words result(cube.size());
  const std::size_t upper = plane_at(n, cut, 0), plane = std::size_t{n} * n;
  for (std::uint32_t y = 0; y < n; ++y) {
    for (std::uint32_t x = 0; x < n; ++x) {
      step_column(cube.data(), result.data(), n, cut, x, y, 0, cut - 1);
      step_column(cube.data() + upper, result.data() + upper, n, n - cut, x, y, 1, n - cut - 1);
      for (std::uint32_t field = 0; field < kFields; ++field) {
        step_border_cell(cube.data(), result.data(), n, field, x, y, cut - 1, cut - 2, &messages[field * plane], 0);
        step_border_cell(cube.data() + upper, result.data() + upper, n, field, x, y, 0, 1,
                         &messages[(kFields + field) * plane], 0);
      }
    }
  }
  return result;
}

TEST(StnSlabTest, TogetherMatchTheWholeCubeAndAWrongWordOfAMessageIsFound) {
  for (const std::uint32_t n : {4u, 5u, 9u}) {
    for (const std::uint32_t cut : {2u, n - 2}) {
      const Words cube = initial_cube(n);
      Words expected = cube;
      step_cube(expected, n, 1);
      const auto planes = [&](std::uint32_t z) {
        return cube.begin() + static_cast<std::ptrdiff_t>(plane_at(n, z, 0));
      };
      Words messages(planes(cut), planes(cut + 1));
      messages.insert(messages.end(), planes(cut - 1), planes(cut));
      EXPECT_EQ(stepped_in_slabs(cube, n, cut, messages), expected) << n << " cut at " << cut;
      for (std::uint32_t& word : messages) {
        word += 1;
        const Words wrong = stepped_in_slabs(cube, n, cut, messages);
        EXPECT_FALSE(compare_words(wrong, expected, 1, [](std::size_t i) { return std::to_string(i); }));
        EXPECT_NE(total_of(wrong), total_of(cube));
        word -= 1;
      }
    }
  }
}

wicprof::Result<> run(std::uint32_t devices, const AppOptions& options) {
  const auto runtime = make_runtime(devices, options.way);
  auto program = Heat::make(*runtime, options);
  if (!program) return program.error();
  if (auto done = (*program)->step(1); !done) return done;
  return (*program)->check();
}

TEST(StnTest, IsCorrectInEveryWayAtEverySizeOnTwoToFourDevices) {
  for (const Way way : {Way::naive, Way::poll, Way::park}) {
    for (const auto& [devices, size, tiles] : {std::tuple{2u, 4u, "1"}, {2u, 7u, "3"}, {3u, 11u, "4"}, {4u, 8u, "8"}}) {
      AppOptions options = options_of(g_stn_info(), size, way);
      options.more["tiles"] = tiles;
      const auto done = run(devices, options);
      EXPECT_TRUE(done) << size << " on " << devices << ": " << done.error().message;
    }
  }
}

TEST(StnTest, AnyNumberOfThreadsGivesTheSameResult) {
  for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {2u, 96u}, {3u, 512u}, {100u, 32u}}) {
    AppOptions options = options_of(g_stn_info(), 12, Way::park);
    options.blocks = blocks;
    options.block_size = threads;
    const auto done = run(3, options);
    EXPECT_TRUE(done) << blocks << " blocks of " << threads << ": " << done.error().message;
  }
}

TEST(StnTest, AWrongCellIsFoundAndNamed) {
  const auto runtime = make_runtime(2, Way::park);
  constexpr std::uint32_t kSide = 8;
  auto program = Heat::make(*runtime, options_of(g_stn_info(), kSide, Way::park));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE((*program)->step(1));
  (*program)->slabs().slab(1)[plane_at(kSide, 1, 1) + 2 * kSide + 3] += 1;  // device 1 has heights 4 to 7
  const auto checked = (*program)->check();
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("1 wrong words after iteration 4, the first at field b, cell (3, 2, 5)"),
            std::string::npos)
      << checked.error().message;
}

TEST(StnTest, InvalidSizesAreRefused) {
  for (const auto& [devices, size, tiles] : {std::tuple{2u, 3u, "1"}, {2u, 2000u, "1"}, {4u, 7u, "1"}, {2u, 8u, "9"}}) {
    AppOptions options = options_of(g_stn_info(), size, Way::poll);
    options.more["tiles"] = tiles;
    const auto done = run(devices, options);
    ASSERT_FALSE(done) << size << " on " << devices;
    EXPECT_EQ(done.error().kind, wicprof::ErrorKind::bad_input);
  }
}

TEST(StnTest, BlocksThatDoNotFitTogetherAreRefused) {
  AppOptions options = options_of(g_stn_info(), 80, Way::poll);
  options.more["tiles"] = "64";
  options.block_size = 512;
  const auto done = run(2, options);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("deadlock"), std::string::npos) << done.error().message;
}

}  // namespace
}  // namespace sample::stn
