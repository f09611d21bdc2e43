#include "analyzer/measure/warm_up.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wicprof::analyzer {
namespace {

/// `warm` values that fall from `height` to 0, then noise alone.
std::vector<double> series(std::size_t warm, std::size_t steady, double height, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> values;
  for (std::size_t i = 0; i < warm + steady; ++i) {
    const double left = i < warm ? 1 - static_cast<double>(i) / static_cast<double>(warm) : 0;
    values.push_back(height * left + noise(random));
  }
  return values;
}

TEST(WarmUp, EndsWhereTheValuesBecomeSteady) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::size_t length = warm_up_length(series(100, 900, 3, seed));
    EXPECT_GE(length, 50u) << seed;
    EXPECT_LE(length, 500u) << seed;
    EXPECT_TRUE(is_steady(series(100, 900, 3, seed))) << seed;
  }
}

TEST(WarmUp, IsNotOverWhileTheValuesFall) {
  for (unsigned seed = 0; seed < 20; ++seed) EXPECT_FALSE(is_steady(series(1000, 0, 3, seed))) << seed;
}

TEST(WarmUp, NeedsValues) {
  EXPECT_FALSE(is_steady({}));
  EXPECT_FALSE(is_steady(std::vector<double>(kFewestForWarmUp - 1, 1.0)));
  EXPECT_TRUE(is_steady(std::vector<double>(kFewestForWarmUp, 1.0)));
}

TEST(WarmUp, IsMostlyShortWithoutOne) {
  int steady = 0;
  for (unsigned seed = 0; seed < 100; ++seed) steady += is_steady(series(0, 200, 0, seed)) ? 1 : 0;
  EXPECT_GE(steady, 60);
}

}  // namespace
}  // namespace wicprof::analyzer
