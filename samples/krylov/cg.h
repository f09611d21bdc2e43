// The conjugate gradient method with one exchange per iteration: pipelined CG (P. Ghysels and W. Vanroose, "Hiding
// global synchronization latency in the preconditioned Conjugate Gradient algorithm", Parallel Computing 40, 2014,
// algorithm 3), which rearranges the method of Chronopoulos and Gear so that the dot products travel with the values
// for the next product.
//
// An iteration multiplies one vector by A, which needs the other ranks' messages, and then updates each row
// independently:
//
//   residual    n = A x    r = b - n
//   image       n = A r    w = n
//   step        n = A w    z = n + beta z   s = w + beta s   p = r + beta p
//               x += alpha p   r -= alpha s   w -= alpha z
//
// Its message also carries the dot products gamma = (r, r) and delta = (w, r) of the previous iteration. A solve is
// residual, image and then steps until gamma is small enough; another residual and image compute the true gamma from x.
// If rounding made the two differ too much, steps continue from there.
#pragma once

#include <utility>

#include "krylov/plan.h"
#include "krylov/sums.h"

namespace sample::krylov {

enum class Kind : std::uint32_t { residual, image, step };

struct Coefficients {
  double alpha, beta;
};

/// State that a step needs from the previous step.
struct CgState {
  double gamma, alpha;
};

/// `first`: no step before this one. All ranks compute the same bits. A residual of zero gives zero coefficients.
WIC_DEVICE inline Coefficients coefficients_of(const CgState& before, const Dots& dots, bool first) {
  if (dots.gamma == 0) return {0, 0};
  if (first) return {dots.gamma / dots.delta, 0};
  const double beta = dots.gamma / before.gamma;
  return {dots.gamma / minus(dots.delta, times(beta, dots.gamma) / before.alpha), beta};
}

/// A rank's matrix and vectors, in host or device memory. Non-owning.
struct RankView {
  Sharing sharing;
  std::uint32_t rows, interior, dot_rows;
  SellView matrix;
  const std::uint32_t* combine_begin;
  const std::uint32_t* combine_from;
  const double* b;
  double *x, *r, *w, *p, *s, *z, *n;
  double* w_next;    ///< the next w; separate because other rows still multiply with the old w. See advance()
  double* products;  ///< Sharing::sum: the rank's own products of the boundary rows
  double* ghosts;    ///< values received from other ranks
  Dots* chunks;      ///< dot products per chunk of rows

  /// Call after each iteration.
  void advance(Kind kind) {
    if (kind != Kind::residual) std::swap(w, w_next);
  }

  /// The vector that an iteration multiplies by A.
  WIC_DEVICE const double* source(Kind kind) const { return kind == Kind::residual ? x : kind == Kind::image ? r : w; }
  /// The array that Outgoing::from indexes.
  WIC_DEVICE const double* sent(Kind kind) const { return sharing == Sharing::sum ? products : source(kind); }

  /// Sharing::sum, before sending: the product of boundary row i, counted from the first boundary row.
  WIC_DEVICE void multiply_boundary(Kind kind, std::uint32_t i) const {
    products[i] = matrix.product(interior + i, source(kind));
  }
  /// C1.
  WIC_DEVICE void multiply_interior(Kind kind, std::uint32_t row) const { n[row] = matrix.product(row, source(kind)); }

  /// C2 for boundary rows, and the row's update. Returns the row's contribution to the dot products.
  WIC_DEVICE Dots finish_row(Kind kind, const Coefficients& c, std::uint32_t row) const {
    const double product = row < interior ? n[row] : boundary_product(kind, row);
    if (kind == Kind::residual) {
      r[row] = minus(b[row], product);
    } else if (kind == Kind::image) {
      w_next[row] = product;
    } else {
      update(c, row, product);
    }
    if (row >= dot_rows) return {0, 0};
    const double residual = r[row];
    return {times(residual, residual), kind == Kind::residual ? 0 : times(w_next[row], residual)};
  }

  /// Finishes the rows of slot `slot` of a chunk and returns their sum; see sums.h.
  WIC_DEVICE Dots finish_slot(Kind kind, const Coefficients& c, std::uint32_t chunk, std::uint32_t slot) const {
    Dots sum{0, 0};
    for (std::uint32_t i = slot; i < kChunkRows; i += kSlots) {
      const std::uint32_t row = chunk * kChunkRows + i;
      if (row < rows) sum = sum + finish_row(kind, c, row);
    }
    return sum;
  }

 private:
  WIC_DEVICE double boundary_product(Kind kind, std::uint32_t row) const {
    if (sharing == Sharing::halo) return matrix.product(row, source(kind), ghosts);
    const std::uint32_t i = row - interior;
    double sum = 0;
    for (std::uint32_t k = combine_begin[i]; k < combine_begin[i + 1]; ++k) {
      sum = plus(sum, combine_from[k] == kOwnProduct ? products[i] : ghosts[combine_from[k]]);
    }
    return sum;
  }

  WIC_DEVICE void update(const Coefficients& c, std::uint32_t row, double product) const {
    const double w_old = w[row], r_old = r[row];
    const double z_new = plus(product, times(c.beta, z[row]));
    const double s_new = plus(w_old, times(c.beta, s[row]));
    const double p_new = plus(r_old, times(c.beta, p[row]));
    z[row] = z_new;
    s[row] = s_new;
    p[row] = p_new;
    x[row] = plus(x[row], times(c.alpha, p_new));
    r[row] = minus(r_old, times(c.alpha, s_new));
    w_next[row] = minus(w_old, times(c.alpha, z_new));
  }
};

}  // namespace sample::krylov
