// Numbers points like an unstructured mesh: neighbours have nearby but irregular numbers. Patches of the grid are
// numbered in the order in which a front from a random patch reaches them, and the points within a patch in random
// order. A range of numbers is therefore a region, and its border is an irregular list of numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/mix.h"

namespace sample::krylov {

/// A random number generator with the same output on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    const std::uint64_t number = mix(state_);
    state_ += kMixIncrement;
    return number;
  }
  /// A number from 0 to end - 1.
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>((next() >> 32) * end >> 32); }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(static_cast<std::uint32_t>(i))]);
  }
  /// A number from 0 (inclusive) to 1 (exclusive).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// A box of points or cells, x running fastest.
struct Grid {
  std::uint32_t nx, ny, nz;

  std::uint32_t count() const { return nx * ny * nz; }
  std::uint32_t index(std::uint32_t x, std::uint32_t y, std::uint32_t z) const { return (z * ny + y) * nx + x; }
  /// Calls visit(index) for the up to 27 points around and including `at`, in index order.
  template <class Visit>
  void around(std::uint32_t at, const Visit& visit) const {
    const auto low = [](std::uint32_t v) { return v == 0 ? 0 : v - 1; };
    const auto high = [](std::uint32_t v, std::uint32_t n) { return v + 1 == n ? v : v + 1; };
    const std::uint32_t x = at % nx, y = at / nx % ny, z = at / nx / ny;
    for (std::uint32_t k = low(z); k <= high(z, nz); ++k) {
      for (std::uint32_t j = low(y); j <= high(y, ny); ++j) {
        for (std::uint32_t i = low(x); i <= high(x, nx); ++i) visit(index(i, j, k));
      }
    }
  }
};

/// All points of the grid, front by front from a random start.
inline std::vector<std::uint32_t> front_order(const Grid& grid, Random& random) {
  std::vector<std::uint32_t> order;
  order.reserve(grid.count());
  std::vector<bool> seen(grid.count());
  std::vector<std::uint32_t> front{random.below(grid.count())}, next;
  seen[front[0]] = true;
  while (!front.empty()) {
    random.shuffle(front);
    next.clear();
    for (const std::uint32_t at : front) {
      order.push_back(at);
      grid.around(at, [&](std::uint32_t other) {
        if (!seen[other]) next.push_back(other);
        seen[other] = true;
      });
    }
    std::swap(front, next);
  }
  return order;
}

/// The grid point for each number, 0 to count() - 1. A patch is half as long as the grid along each axis, clamped to 1
/// to 8 points.
inline std::vector<std::uint32_t> unstructured_order(const Grid& grid, std::uint64_t seed) {
  Random random(seed);
  const auto side = [](std::uint32_t n) { return std::clamp(n / 2, 1u, 8u); };
  const std::uint32_t sx = side(grid.nx), sy = side(grid.ny), sz = side(grid.nz);
  const Grid patches{(grid.nx + sx - 1) / sx, (grid.ny + sy - 1) / sy, (grid.nz + sz - 1) / sz};
  std::vector<std::uint32_t> order, patch;
  order.reserve(grid.count());
  for (const std::uint32_t at : front_order(patches, random)) {
    const std::uint32_t x = at % patches.nx * sx, y = at / patches.nx % patches.ny * sy,
                        z = at / patches.nx / patches.ny * sz;
    patch.clear();
    for (std::uint32_t k = z; k < std::min(z + sz, grid.nz); ++k) {
      for (std::uint32_t j = y; j < std::min(y + sy, grid.ny); ++j) {
        for (std::uint32_t i = x; i < std::min(x + sx, grid.nx); ++i) patch.push_back(grid.index(i, j, k));
      }
    }
    random.shuffle(patch);
    order.insert(order.end(), patch.begin(), patch.end());
  }
  return order;
}

/// The number of each grid point.
inline std::vector<std::uint32_t> inverse_of(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  return number;
}

/// First element of each rank's share of `count` elements, and the end. Rank 0 gets `percent` of them, at least 1; the
/// others get equal shares. `count` must be at least `ranks`.
inline std::vector<std::uint32_t> shares_of(std::uint32_t count, std::uint32_t ranks, double percent) {
  const std::uint32_t others = ranks - 1;
  auto first = static_cast<std::uint32_t>(percent / 100 * count + 0.5);
  if (first < 1) first = 1;
  if (first > count - others) first = count - others;
  std::vector<std::uint32_t> begin{0};
  for (std::uint32_t r = 0; r <= others; ++r) {
    begin.push_back(others == 0 ? count
                                : first + static_cast<std::uint32_t>(std::uint64_t{count - first} * r / others));
  }
  return begin;
}

}  // namespace sample::krylov
