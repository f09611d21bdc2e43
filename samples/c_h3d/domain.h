// The whole periodic domain, (ranks * n) x n x n cells without ghosts: where it begins, and how ranks and it map.
#pragma once

#include <vector>

#include "c_h3d/cube.h"

namespace sample::h3d {

struct Domain {
  std::uint32_t ranks;
  std::uint32_t n;

  std::uint32_t length_x() const { return ranks * n; }
  std::size_t cells() const { return std::size_t{length_x()} * n * n; }
  std::size_t index(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return (std::size_t{z} * n + y) * length_x() + x;
  }
};

/// What the domain holds before the first iteration: numbers that are as good as random, so that no cell looks like
/// another.
inline std::vector<Cell> initial_field(const Domain& domain) {
  std::vector<Cell> field(domain.cells());
  for (std::size_t i = 0; i < field.size(); ++i) {
    std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    field[i] = static_cast<Cell>(mixed >> 32);
  }
  return field;
}

/// Calls copy(domain_index, rank_index) for the first cell of each row of n own cells of a rank.
template <class Copy>
void for_each_row(const Domain& domain, std::uint32_t rank, const Copy& copy) {
  const Cube cube{domain.n};
  for (std::uint32_t z = 0; z < domain.n; ++z) {
    for (std::uint32_t y = 0; y < domain.n; ++y) {
      copy(domain.index(rank * domain.n, y, z), cube.index(1, y + 1, z + 1));
    }
  }
}

/// The sum of all cells, which no iteration changes.
inline Cell total(const std::vector<Cell>& field) {
  Cell sum = 0;
  for (const Cell cell : field) sum += cell;
  return sum;
}

}  // namespace sample::h3d
