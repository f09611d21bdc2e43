// A rank's rows in the form that kernels read (sliced ELLPACK). A slice is 32 rows stored column by column, so that the
// threads of a warp, one row each, read adjacent entries. Rows are padded with zeros to the longest row of their slice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "krylov/csr.h"
#include "krylov/strict.h"

namespace sample::krylov {

inline constexpr std::uint32_t kSliceRows = 32;

/// A non-owning reference to host or device memory.
struct SellView {
  const std::uint32_t* slice_begin;  ///< in groups of 32 entries; one more element than slices
  const std::uint32_t* columns;      ///< below `rows`: an own row; otherwise a ghost
  const double* values;
  std::uint32_t rows;

  /// A row times own values, for rows without ghosts.
  WIC_DEVICE double product(std::uint32_t row, const double* own) const {
    return sum(row, [&](std::uint32_t column) { return own[column]; });
  }
  WIC_DEVICE double product(std::uint32_t row, const double* own, const double* ghosts) const {
    return sum(row, [&](std::uint32_t column) { return column < rows ? own[column] : ghosts[column - rows]; });
  }

 private:
  template <class Value>
  WIC_DEVICE double sum(std::uint32_t row, const Value& value) const {
    const std::uint32_t slice = row / kSliceRows;
    const std::uint32_t end = slice_begin[slice + 1];
    double total = 0;
    for (std::uint32_t group = slice_begin[slice]; group < end; ++group) {
      const std::size_t at = std::size_t{group} * kSliceRows + row % kSliceRows;
      total = plus(total, times(values[at], value(columns[at])));
    }
    return total;
  }
};

struct Sell {
  std::vector<std::uint32_t> slice_begin{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  std::uint32_t rows = 0;

  SellView view() const { return {slice_begin.data(), columns.data(), values.data(), rows}; }
};

inline Sell sell_of(const Csr& matrix) {
  Sell sell;
  sell.rows = matrix.rows();
  for (std::uint32_t first = 0; first < sell.rows; first += kSliceRows) {
    const std::uint32_t end = std::min(first + kSliceRows, sell.rows);
    std::uint32_t longest = 0;
    for (std::uint32_t row = first; row < end; ++row) {
      longest = std::max(longest, matrix.begin[row + 1] - matrix.begin[row]);
    }
    const std::size_t at = sell.columns.size();
    sell.columns.resize(at + std::size_t{longest} * kSliceRows);
    sell.values.resize(at + std::size_t{longest} * kSliceRows);
    for (std::uint32_t row = first; row < end; ++row) {
      for (std::uint32_t k = 0; k < longest; ++k) {
        const std::uint32_t entry = matrix.begin[row] + k;
        const bool is_there = entry < matrix.begin[row + 1];
        const std::size_t to = at + std::size_t{k} * kSliceRows + (row - first);
        sell.columns[to] = is_there ? matrix.columns[entry] : row;
        sell.values[to] = is_there ? matrix.values[entry] : 0.0;
      }
    }
    sell.slice_begin.push_back(sell.slice_begin.back() + longest);
  }
  return sell;
}

}  // namespace sample::krylov
