// The whole periodic domain, cells along x by n by n without ghosts: where it begins, and how ranks and it map.
#pragma once

#include <vector>

#include "c_h3d/brick.h"

namespace sample::h3d {

struct Domain {
  std::uint32_t ranks;
  std::uint32_t n;
  std::uint32_t first_nx = n;  ///< of rank 0 along x; the other ranks have cubes

  std::uint32_t length_x() const { return begin_x(ranks); }
  /// Where a rank's cells begin along x; for `ranks`, where the last one's end.
  std::uint32_t begin_x(std::uint32_t rank) const { return rank == 0 ? 0 : first_nx + (rank - 1) * n; }
  Brick brick(std::uint32_t rank) const { return {n, rank == 0 ? first_nx : n}; }
  /// The rank that has the cells with this x.
  std::uint32_t rank_at(std::uint32_t x) const { return x < first_nx ? 0 : 1 + (x - first_nx) / n; }
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

/// Calls copy(domain_index, rank_index) for the first cell of each row of a rank's own cells.
template <class Copy>
void for_each_row(const Domain& domain, std::uint32_t rank, const Copy& copy) {
  const Brick brick = domain.brick(rank);
  for (std::uint32_t z = 0; z < domain.n; ++z) {
    for (std::uint32_t y = 0; y < domain.n; ++y) {
      copy(domain.index(domain.begin_x(rank), y, z), brick.index(1, y + 1, z + 1));
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
