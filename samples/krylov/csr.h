// A sparse matrix in compressed row form, for assembly and for the reference.
#pragma once

#include <cstdint>
#include <vector>

namespace sample::krylov {

struct Csr {
  std::vector<std::uint32_t> begin{0};  ///< first entry of each row in the two arrays below; one more element than rows
  std::vector<std::uint32_t> columns;
  std::vector<double> values;

  std::uint32_t rows() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  void end_row() { begin.push_back(static_cast<std::uint32_t>(columns.size())); }
  void add(std::uint32_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
};

/// to = matrix * from.
inline void multiply(const Csr& matrix, const std::vector<double>& from, std::vector<double>& to) {
  for (std::uint32_t row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    for (std::uint32_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      sum += matrix.values[e] * from[matrix.columns[e]];
    }
    to[row] = sum;
  }
}

}  // namespace sample::krylov
