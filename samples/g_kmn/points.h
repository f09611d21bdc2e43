// The points: drawn from a seeded mixture, each from its number alone, so that any thread can generate any point.
#pragma once

#include <cstdint>

#include "common/mix.h"
#include "wic/platform.h"

namespace sample::kmn {

inline constexpr std::uint32_t kDims = 16;
inline constexpr std::uint32_t kMaxCoordinate = 4095;
inline constexpr std::uint32_t kSources = 24;  ///< components of the mixture; independent of --clusters

/// Coordinates are 12-bit integers: squared distances fit 32 bits, and sums are exact in any order.
struct alignas(16) Point {
  std::uint16_t at[kDims];
};
static_assert(kDims * kMaxCoordinate * kMaxCoordinate < 0xffffffffu);

/// A point: the centre of one component plus bell-shaped noise, the sum of four random bytes.
WIC_DEVICE constexpr Point make_point(std::uint64_t seed, std::uint64_t number) {
  const std::uint64_t source = mix(seed ^ mix(number)) % kSources;
  Point point{};
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const auto middle = static_cast<std::int32_t>(512 + mix(seed + source * kDims + d) % 3072);
    const std::uint64_t noise = mix((seed ^ number * kDims) + d + 1);
    std::int32_t sum = -510;
    for (std::uint32_t b = 0; b < 4; ++b) sum += static_cast<std::int32_t>((noise >> (8 * b)) & 0xff);
    const std::int32_t value = middle + sum;
    const auto max_value = static_cast<std::int32_t>(kMaxCoordinate);
    point.at[d] = static_cast<std::uint16_t>(value < 0 ? 0 : value > max_value ? max_value : value);
  }
  return point;
}

WIC_DEVICE constexpr std::uint32_t squared_distance(const Point& a, const Point& b) {
  std::uint32_t sum = 0;
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const std::int32_t difference = static_cast<std::int32_t>(a.at[d]) - static_cast<std::int32_t>(b.at[d]);
    sum += static_cast<std::uint32_t>(difference * difference);
  }
  return sum;
}

/// Index of the nearest of `count` centroids; the lowest index if several are equally near.
WIC_DEVICE constexpr std::uint32_t nearest(const Point& point, const Point* centroids, std::uint32_t count) {
  std::uint32_t best = 0;
  std::uint32_t least = 0xffffffffu;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Point centroid = centroids[k];  // copied as a whole: two loads on a GPU rather than one per coordinate
    const std::uint32_t distance = squared_distance(point, centroid);
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  return best;
}

/// Sums per cluster and round: one per coordinate, and the number of points.
inline constexpr std::uint32_t kSumsOfCluster = kDims + 1;

/// A coordinate of the next centroid: the rounded mean; a cluster without points keeps its centroid.
WIC_DEVICE constexpr std::uint16_t next_coordinate(std::uint64_t sum, std::uint64_t count, std::uint16_t old) {
  return count == 0 ? old : static_cast<std::uint16_t>((sum + count / 2) / count);
}

}  // namespace sample::kmn
