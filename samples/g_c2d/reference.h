// The reference: filters the whole image without bands or messages, first along columns and then along rows.
#pragma once

#include <utility>

#include "common/replay.h"
#include "g_c2d/filter.h"

namespace sample::c2d {

inline Words initial_image(std::uint32_t side) {
  Words image(std::size_t{side} * side);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = scrambled(i);
  return image;
}

/// Filters a square image `times` times.
inline void filter_image(Words& image, std::uint32_t side, std::uint32_t times) {
  constexpr std::uint32_t kWeight[2 * kReach + 1] = {1, 3, 5, 3, 1};
  Words next(image.size()), sums(side);
  const auto line = [side](std::uint32_t i, std::uint32_t k) {  // the k-th of the lines around line i
    return mirrored(static_cast<std::int32_t>(i + k) - static_cast<std::int32_t>(kReach), side);
  };
  for (std::uint32_t time = 0; time < times; ++time) {
    for (std::uint32_t y = 0; y < side; ++y) {
      std::fill(sums.begin(), sums.end(), 0u);
      for (std::uint32_t k = 0; k <= 2 * kReach; ++k) {
        const std::uint32_t* const row = &image[std::size_t{line(y, k)} * side];
        for (std::uint32_t x = 0; x < side; ++x) sums[x] += kWeight[k] * row[x];
      }
      std::uint32_t* const to = &next[std::size_t{y} * side];
      for (std::uint32_t x = 0; x < side; ++x) {
        std::uint32_t sum = 0;
        if (x >= kReach && x + kReach < side) {
          for (std::uint32_t k = 0; k <= 2 * kReach; ++k) sum += kWeight[k] * sums[x + k - kReach];
        } else {
          for (std::uint32_t k = 0; k <= 2 * kReach; ++k) sum += kWeight[k] * sums[line(x, k)];
        }
        to[x] = kInverseOfSum * sum;
      }
    }
    std::swap(image, next);
  }
}

}  // namespace sample::c2d
