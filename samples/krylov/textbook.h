// The reference for the method: textbook conjugate gradients (Hestenes and Stiefel) on the whole matrix.
#pragma once

#include <vector>

#include "krylov/csr.h"

namespace sample::krylov {

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// (r, r) before each of the first `max_iterations` iterations from x = 0; ends early at 0 or at most `goal`.
inline std::vector<double> textbook_residuals(const Csr& matrix, const std::vector<double>& b,
                                              std::size_t max_iterations, double goal) {
  std::vector<double> gammas, r = b, p = b, q(b.size());
  double gamma = dot(r, r);
  while (gammas.size() < max_iterations) {
    gammas.push_back(gamma);
    if (gamma <= goal || gamma == 0) break;
    multiply(matrix, p, q);
    const double alpha = gamma / dot(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
    const double before = gamma;
    gamma = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + gamma / before * p[i];
  }
  return gammas;
}

/// The square of |b - A x|.
inline double residual_of(const Csr& matrix, const std::vector<double>& b, const std::vector<double>& x) {
  std::vector<double> r(b.size());
  multiply(matrix, x, r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return dot(r, r);
}

}  // namespace sample::krylov
