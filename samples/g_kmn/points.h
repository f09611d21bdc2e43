// The points: drawn from a seeded mixture, each by its number alone, so that any thread can make any of them.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample::kmn {

inline constexpr std::uint32_t kDims = 16;
inline constexpr std::uint32_t kMostCoordinate = 4095;
inline constexpr std::uint32_t kSources = 24;  ///< bumps of the mixture; not the number of clusters that are looked for

/// Coordinates are 12-bit fixed-point numbers: squared distances fit 32 bits, sums are exact in any order.
struct alignas(16) Point {
  std::uint16_t at[kDims];
};
static_assert(kDims * kMostCoordinate * kMostCoordinate < 0xffffffffu);

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
WIC_DEVICE constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A reading: the middle of one bump plus noise, the sum of four bytes, so bell-shaped.
WIC_DEVICE constexpr Point make_point(std::uint64_t seed, std::uint64_t number) {
  const std::uint64_t source = mix(seed ^ mix(number)) % kSources;
  Point point{};
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const auto middle = static_cast<std::int32_t>(512 + mix(seed + source * kDims + d) % 3072);
    const std::uint64_t noise = mix((seed ^ number * kDims) + d + 1);
    std::int32_t sum = -510;
    for (std::uint32_t b = 0; b < 4; ++b) sum += static_cast<std::int32_t>((noise >> (8 * b)) & 0xff);
    const std::int32_t value = middle + sum;
    const auto most = static_cast<std::int32_t>(kMostCoordinate);
    point.at[d] = static_cast<std::uint16_t>(value < 0 ? 0 : value > most ? most : value);
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

/// The nearest of `count` centroids; the first of several.
WIC_DEVICE constexpr std::uint32_t nearest(const Point& point, const Point* centroids, std::uint32_t count) {
  std::uint32_t best = 0;
  std::uint32_t least = 0xffffffffu;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Point centroid = centroids[k];  // as a whole: two loads on a GPU rather than one a coordinate
    const std::uint32_t distance = squared_distance(point, centroid);
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  return best;
}

/// What a cluster has gathered in a round: the sums of its points' coordinates, and how many they are.
inline constexpr std::uint32_t kSumsOfCluster = kDims + 1;

/// A coordinate of the next centroid: the mean, rounded; a cluster without points stays where it is.
WIC_DEVICE constexpr std::uint16_t next_coordinate(std::uint64_t sum, std::uint64_t count, std::uint16_t old) {
  return count == 0 ? old : static_cast<std::uint16_t>((sum + count / 2) / count);
}

}  // namespace sample::kmn
