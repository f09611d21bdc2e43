// Sequential k-means (Lloyd's algorithm) on the CPU. Every way of waiting must produce bit-identical results.
#pragma once

#include <cstdint>
#include <vector>

#include "g_kmn/points.h"

namespace sample::kmn {

/// The centroids at the start of a round and the sums at its end.
struct Round {
  std::vector<Point> centroids;
  std::vector<std::uint64_t> sums;  ///< kSumsOfCluster a cluster
  bool operator==(const Round&) const = default;
};

inline bool operator==(const Point& a, const Point& b) {
  for (std::uint32_t d = 0; d < kDims; ++d) {
    if (a.at[d] != b.at[d]) return false;
  }
  return true;
}

/// The initial centroids of clustering `start`: `clusters` of the points, drawn from the seed.
inline std::vector<Point> first_centroids(std::uint64_t seed, std::uint64_t points, std::uint32_t clusters,
                                          std::uint32_t start) {
  std::vector<Point> centroids;
  for (std::uint32_t k = 0; k < clusters; ++k) {
    centroids.push_back(make_point(seed, mix(seed + 0x5eedu + std::uint64_t{start} * clusters + k) % points));
  }
  return centroids;
}

/// Assigns `count` points and sums them up per cluster; points(i) returns point i.
template <class Points>
Round gather(std::vector<Point> centroids, std::uint64_t count, const Points& points) {
  const auto clusters = static_cast<std::uint32_t>(centroids.size());
  std::vector<std::uint64_t> sums(centroids.size() * kSumsOfCluster);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Point point = points(i);
    std::uint64_t* const to = sums.data() + std::size_t{nearest(point, centroids.data(), clusters)} * kSumsOfCluster;
    for (std::uint32_t d = 0; d < kDims; ++d) to[d] += point.at[d];
    ++to[kDims];
  }
  return {std::move(centroids), std::move(sums)};
}

inline std::vector<Point> next_centroids(const Round& round) {
  std::vector<Point> next = round.centroids;
  for (std::size_t k = 0; k < next.size(); ++k) {
    const std::uint64_t* const sums = round.sums.data() + k * kSumsOfCluster;
    for (std::uint32_t d = 0; d < kDims; ++d) next[k].at[d] = next_coordinate(sums[d], sums[kDims], next[k].at[d]);
  }
  return next;
}

}  // namespace sample::kmn
