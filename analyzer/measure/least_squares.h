// Least squares of a few unknowns.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace wicprof::analyzer {

/// Of each unknown, its value, and the half width of its interval (Student's t).
struct LeastSquares {
  std::vector<double> value, half_width;
};

/// The solution of `rows` * value = `results`, without a constant; each row has one number per unknown. Nothing where
/// there are fewer than three rows more than unknowns, or where the columns depend on each other. `miss`: the share of
/// cases in which the truth lies outside of an interval, if errors are independent and normal.
std::optional<LeastSquares> least_squares(const std::vector<std::vector<double>>& rows,
                                          const std::vector<double>& results, double miss);

}  // namespace wicprof::analyzer
