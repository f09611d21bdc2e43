#include "analyzer/measure/least_squares.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

namespace wicprof::analyzer {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Of a column's square, so much has to be left that the columns before do not explain.
constexpr double kLeastLeft = 1e-9;

/// The inverse of a symmetric positive matrix with ones on its diagonal, by Gauss and Jordan.
std::optional<Matrix> inverse(Matrix matrix) {
  const std::size_t n = matrix.size();
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = matrix[k][k];
    if (pivot < kLeastLeft) return std::nullopt;
    matrix[k][k] = 1;
    for (double& each : matrix[k]) each /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = std::exchange(matrix[i][k], 0);
      for (std::size_t j = 0; j < n; ++j) matrix[i][j] -= factor * matrix[k][j];
    }
  }
  return matrix;
}

}  // namespace

std::optional<LeastSquares> least_squares(const std::vector<std::vector<double>>& rows,
                                          const std::vector<double>& results, double miss) {
  const std::size_t unknowns = rows.empty() ? 0 : rows.front().size();
  if (unknowns == 0 || rows.size() < unknowns + 3) return std::nullopt;
  // Columns of length one make the pivots comparable.
  std::vector<double> length(unknowns, 0), moments(unknowns, 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < unknowns; ++i) length[i] += row[i] * row[i];
  }
  for (double& each : length) {
    if (each <= 0) return std::nullopt;
    each = std::sqrt(each);
  }
  Matrix products(unknowns, std::vector<double>(unknowns, 0));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < unknowns; ++i) {
      const double scaled = rows[r][i] / length[i];
      moments[i] += scaled * results[r];
      for (std::size_t j = 0; j < unknowns; ++j) products[i][j] += scaled * rows[r][j] / length[j];
    }
  }
  const std::optional<Matrix> inverted = inverse(std::move(products));
  if (!inverted) return std::nullopt;
  LeastSquares found;
  for (std::size_t i = 0; i < unknowns; ++i) {
    double value = 0;
    for (std::size_t j = 0; j < unknowns; ++j) value += (*inverted)[i][j] * moments[j];
    found.value.push_back(value / length[i]);
  }
  double squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double left = results[r];
    for (std::size_t i = 0; i < unknowns; ++i) left -= rows[r][i] * found.value[i];
    squares += left * left;
  }
  const auto degrees = static_cast<double>(rows.size() - unknowns);
  const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), miss / 2));
  for (std::size_t i = 0; i < unknowns; ++i) {
    found.half_width.push_back(t * std::sqrt(squares / degrees * (*inverted)[i][i]) / length[i]);
  }
  return found;
}

}  // namespace wicprof::analyzer
