// The matrix of HPCCG and HPCG: 27 on the diagonal and -1 for each of the up to 26 neighbours, over a grid whose points
// are numbered like an unstructured mesh. Symmetric and positive definite: a row sums to 1 inside the grid and to more
// than 1 at its border.
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

/// With HPCCG's right-hand side: the row sums, so that the solution is 1 everywhere.
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
