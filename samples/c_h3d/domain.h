// The whole periodic domain, length_x x n x n cells without ghosts: its initial values and its mapping to ranks.
#pragma once

#include <vector>

#include "c_h3d/brick.h"
#include "common/mix.h"

namespace sample::h3d {

struct Domain {
  std::uint32_t ranks;
  std::uint32_t n;
  std::uint32_t first_nx = n;  ///< cells of rank 0 along x; the other ranks own cubes

  std::uint32_t length_x() const { return begin_x(ranks); }
  /// First x of a rank's cells; begin_x(ranks) is the length of the domain.
  std::uint32_t begin_x(std::uint32_t rank) const { return rank == 0 ? 0 : first_nx + (rank - 1) * n; }
  Brick brick(std::uint32_t rank) const { return {n, rank == 0 ? first_nx : n}; }
  /// The rank that owns the cells with this x.
  std::uint32_t rank_at(std::uint32_t x) const { return x < first_nx ? 0 : 1 + (x - first_nx) / n; }
  std::size_t cells() const { return std::size_t{length_x()} * n * n; }
  std::size_t index(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return (std::size_t{z} * n + y) * length_x() + x;
  }
};

/// The domain before the first iteration: pseudorandom words.
inline std::vector<Cell> initial_field(const Domain& domain) {
  std::vector<Cell> field(domain.cells());
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = scrambled(i);
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

}  // namespace sample::h3d
