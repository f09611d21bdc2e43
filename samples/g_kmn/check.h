// Compares a round of the devices with sequential k-means.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "g_kmn/reference.h"
#include "wic/device.h"

namespace sample::kmn {

/// Limit on multiplications per check, so that a check takes seconds.
inline constexpr double kMaxCheckWork = 1e10;

struct Sequential {
  std::uint64_t seed;
  std::uint64_t points;
  std::uint32_t clusters;

  double work_of_round() const { return static_cast<double>(points) * clusters * kDims; }

  /// Splits the points among threads; integer sums do not depend on the split.
  Round gather_all(const std::vector<Point>& centroids) const {
    const std::uint64_t workers = points < 100'000 ? 1 : std::max(1u, std::thread::hardware_concurrency());
    std::vector<Round> parts(workers);
    std::vector<std::thread> team;
    for (std::uint64_t w = 0; w < workers; ++w) {
      team.emplace_back([&, w] {
        const std::uint64_t begin = points * w / workers, end = points * (w + 1) / workers;
        parts[w] = gather(centroids, end - begin, [&](std::uint64_t i) { return make_point(seed, begin + i); });
      });
    }
    for (std::thread& worker : team) worker.join();
    for (std::uint64_t w = 1; w < workers; ++w) {
      for (std::size_t i = 0; i < parts[0].sums.size(); ++i) parts[0].sums[i] += parts[w].sums[i];
    }
    return std::move(parts[0]);
  }

  /// Computes round `rounds` from the first centroids. Stops early at a round that changes nothing, because all later
  /// rounds are equal. Empty if that would take more than `max_work` multiplications.
  std::vector<Round> replay(std::uint32_t rounds, std::uint32_t start, double max_work) const {
    Round round = gather_all(first_centroids(seed, points, clusters, start));
    double work = work_of_round();
    for (std::uint32_t r = 2; r <= rounds; ++r) {
      std::vector<Point> next = next_centroids(round);
      if (next == round.centroids) break;
      work += work_of_round();
      if (work > max_work) return {};
      round = gather_all(next);
    }
    return {std::move(round)};
  }

  /// Repeats all rounds if `max_work` allows, otherwise only the last round from its own centroids.
  wic::Result<> compare(const Round& found, std::uint32_t rounds, std::uint32_t start, double max_work) const {
    std::vector<Round> expected = replay(rounds, start, max_work);
    const std::string which = "round " + std::to_string(rounds) + ", start " + std::to_string(start + 1) + ": ";
    if (expected.empty()) expected.push_back(gather_all(found.centroids));
    for (std::uint32_t k = 0; k < clusters; ++k) {
      const std::string cluster = which + "cluster " + std::to_string(k);
      if (!(found.centroids[k] == expected[0].centroids[k]))
        return wic::failed(cluster + " started from a wrong centroid");
      for (std::uint32_t d = 0; d < kSumsOfCluster; ++d) {
        const std::size_t at = std::size_t{k} * kSumsOfCluster + d;
        if (found.sums[at] == expected[0].sums[at]) continue;
        return wic::failed(cluster + (d < kDims ? " has sum " : " has points ") + std::to_string(found.sums[at]) +
                           (d < kDims ? " in dimension " + std::to_string(d) : "") + ", not " +
                           std::to_string(expected[0].sums[at]));
      }
    }
    return wic::ok();
  }
};

}  // namespace sample::kmn
