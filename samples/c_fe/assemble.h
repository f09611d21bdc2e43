// Assembles elements into matrices: the whole matrix for the references, and each rank's part, which is the sum over
// its own elements.
#pragma once

#include <algorithm>
#include <vector>

#include "c_fe/mesh.h"
#include "krylov/plan.h"

namespace sample::fe {

/// Elements numbered `begin` to `end` - 1.
struct ElementRange {
  std::uint32_t begin, end;
};

namespace detail {

// The rows that the elements touch and their columns, ascending, with zero values.
inline krylov::Part structure_of(const Mesh& mesh, ElementRange range) {
  std::vector<bool> is_own(mesh.elements.count());
  for (std::uint32_t e = range.begin; e < range.end; ++e) is_own[mesh.element_order[e]] = true;
  krylov::Part part;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t row = 0; row < mesh.unknowns(); ++row) {
    columns.clear();
    mesh.around(mesh.free_nodes[row], [&](std::uint32_t element) {
      if (!is_own[element]) return;
      for (const std::uint32_t corner : mesh.corners_of(element)) {
        if (mesh.number[corner] != kFixed) columns.push_back(mesh.number[corner]);
      }
    });
    if (columns.empty()) continue;
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    part.nodes.push_back(row);
    for (const std::uint32_t column : columns) part.matrix.add(column, 0);
    part.matrix.end_row();
  }
  return part;
}

}  // namespace detail

/// Sums up the elements' matrices over the unknowns. If `b` is given (zero on entry), adds the contributions of the
/// surface values to it.
inline krylov::Part assemble(const Mesh& mesh, ElementRange range, std::vector<double>* b = nullptr) {
  krylov::Part part = detail::structure_of(mesh, range);
  std::vector<std::uint32_t> row_of(mesh.unknowns());
  for (std::uint32_t i = 0; i < part.nodes.size(); ++i) row_of[part.nodes[i]] = i;
  for (std::uint32_t e = range.begin; e < range.end; ++e) {
    const auto corners = mesh.corners_of(mesh.element_order[e]);
    std::array<Vec3, kCorners> places;
    for (std::uint32_t c = 0; c < kCorners; ++c) places[c] = mesh.place[corners[c]];
    const ElementMatrix element = stiffness(places);
    for (std::uint32_t i = 0; i < kCorners; ++i) {
      const std::uint32_t number = mesh.number[corners[i]];
      if (number == kFixed) continue;
      const std::uint32_t row = row_of[number];
      const auto first = part.matrix.columns.begin() + part.matrix.begin[row];
      const auto last = part.matrix.columns.begin() + part.matrix.begin[row + 1];
      for (std::uint32_t k = 0; k < kCorners; ++k) {
        const std::uint32_t column = mesh.number[corners[k]];
        if (column == kFixed) {
          if (b != nullptr) (*b)[number] -= element[i][k] * solution(places[k]);
        } else {
          part.matrix.values[std::lower_bound(first, last, column) - part.matrix.columns.begin()] += element[i][k];
        }
      }
    }
  }
  return part;
}

}  // namespace sample::fe
