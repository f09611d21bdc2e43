// A cube of hexahedra whose inner nodes are moved slightly at random, with elements and nodes numbered like an
// unstructured mesh. The program solves Laplace's equation on it, with values given at the cube's surface.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "c_fe/hexahedron.h"
#include "krylov/numbering.h"

namespace sample::fe {

/// In Mesh::number: a surface node, whose value is given.
inline constexpr std::uint32_t kFixed = ~0u;

struct Mesh {
  krylov::Grid elements, nodes;
  std::vector<Vec3> place;                   ///< position of each grid node, within the unit cube
  std::vector<std::uint32_t> element_order;  ///< grid element by element number
  std::vector<std::uint32_t> free_nodes;     ///< grid node by unknown
  std::vector<std::uint32_t> number;         ///< unknown by grid node, or kFixed

  std::uint32_t unknowns() const { return static_cast<std::uint32_t>(free_nodes.size()); }

  /// The nodes of a grid element.
  std::array<std::uint32_t, kCorners> corners_of(std::uint32_t element) const {
    const std::uint32_t x = element % elements.nx, y = element / elements.nx % elements.ny,
                        z = element / elements.nx / elements.ny;
    std::array<std::uint32_t, kCorners> corners;
    for (std::uint32_t c = 0; c < kCorners; ++c) corners[c] = nodes.index(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2));
    return corners;
  }

  /// Calls visit(element) for the grid elements around a node.
  template <class Visit>
  void around(std::uint32_t node, const Visit& visit) const {
    const std::uint32_t x = node % nodes.nx, y = node / nodes.nx % nodes.ny, z = node / nodes.nx / nodes.ny;
    for (std::uint32_t c = 0; c < kCorners; ++c) {
      const std::uint32_t dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
      if (x < dx || y < dy || z < dz || x - dx >= elements.nx || y - dy >= elements.ny || z - dz >= elements.nz)
        continue;
      visit(elements.index(x - dx, y - dy, z - dz));
    }
  }
};

/// The expected solution. A linear function solves Laplace's equation and the elements represent it exactly, so the
/// solution must equal it at every node, on any mesh (the patch test).
inline double solution(const Vec3& at) { return 1 + 2 * at[0] - 3 * at[1] + 0.5 * at[2]; }

/// n x n x n elements, n >= 2. `moved`: maximum displacement of an inner node along each axis, as a fraction of an
/// element's side; no element folds up to 0.2.
inline Mesh make_mesh(std::uint32_t n, std::uint64_t seed, double moved = 0.2) {
  Mesh mesh;
  mesh.elements = {n, n, n};
  mesh.nodes = {n + 1, n + 1, n + 1};
  krylov::Random random(seed);
  const double side = 1.0 / n;
  const auto is_inside = [&](std::uint32_t i) { return i > 0 && i < n; };
  for (std::uint32_t z = 0; z <= n; ++z) {
    for (std::uint32_t y = 0; y <= n; ++y) {
      for (std::uint32_t x = 0; x <= n; ++x) {
        Vec3 at{x * side, y * side, z * side};
        if (is_inside(x) && is_inside(y) && is_inside(z)) {
          for (double& coordinate : at) coordinate += side * moved * (2 * random.unit() - 1);
        }
        mesh.place.push_back(at);
      }
    }
  }
  mesh.element_order = krylov::unstructured_order(mesh.elements, random.next());
  mesh.number.assign(mesh.nodes.count(), kFixed);
  const krylov::Grid inner{n - 1, n - 1, n - 1};
  for (const std::uint32_t i : krylov::unstructured_order(inner, random.next())) {
    const std::uint32_t node =
        mesh.nodes.index(1 + i % inner.nx, 1 + i / inner.nx % inner.ny, 1 + i / inner.nx / inner.ny);
    mesh.number[node] = mesh.unknowns();
    mesh.free_nodes.push_back(node);
  }
  return mesh;
}

}  // namespace sample::fe
