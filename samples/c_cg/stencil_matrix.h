// The matrix of HPCCG and HPCG: 27 on the diagonal and -1 for each of the up to 26 neighbours, over a grid whose points
// are numbered as an unstructured mesh's would be. Symmetric, and positive definite: at the border of the grid a row's
// sum is more than 1, inside it is 1.
#pragma once

#include <utility>
#include <vector>

#include "krylov/csr.h"
#include "krylov/numbering.h"

namespace sample::cg {

struct System {
  krylov::Csr matrix;
  std::vector<double> b;
};

/// HPCCG's right-hand side: the row's sum, so that the solution is 1 everywhere.
inline System stencil_system(const krylov::Grid& grid, std::uint64_t seed) {
  const std::vector<std::uint32_t> order = krylov::unstructured_order(grid, seed);
  const std::vector<std::uint32_t> number = krylov::inverse_of(order);
  System system;
  for (const std::uint32_t place : order) {
    double sum = 0;
    grid.around(place, [&](std::uint32_t other) {
      const double value = other == place ? 27.0 : -1.0;
      system.matrix.add(number[other], value);
      sum += value;
    });
    system.matrix.end_row();
    system.b.push_back(sum);
  }
  return system;
}

}  // namespace sample::cg
