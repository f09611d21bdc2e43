// The reference: a sequential product of whole matrices, and two cheaper checks.
//
// In step s (from 1 on) the program adds A * B(s) to C, where B(s) = 3 B(s - 1) + 1, word by word. After s steps C = A
// * S(s), where S(s) is the sum of B(1) to B(s), which has a closed form.
#pragma once

#include <string>
#include <vector>

#include "common/replay.h"
#include "g_gem/panels.h"

namespace sample::gem {

/// n x n pseudorandom words; `which` selects the matrix.
inline Words matrix_of(std::uint32_t n, std::uint32_t which) {
  Words matrix(std::size_t{n} * n);
  const std::uint64_t base = std::uint64_t{which} << 40;
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = scrambled(base + i);
  return matrix;
}

/// S(steps), computed from `b` = B(0).
inline Words sum_of_steps(Words b, std::uint32_t steps) {
  std::uint32_t power = 1, addend = 0, powers = 0, addends = 0;  // B(s) = power * B(0) + addend
  for (std::uint32_t s = 0; s < steps; ++s) {
    power *= 3;
    addend = 3 * addend + 1;
    powers += power;
    addends += addend;
  }
  for (std::uint32_t& word : b) word = powers * word + addends;
  return b;
}

class Product {
 public:
  /// `a`, `b`: n x n matrices.
  Product(std::uint32_t n, Words a, Words b) : n_(n), a_(std::move(a)), b_(std::move(b)) {}

  Words row(std::uint32_t i) const {
    Words sum(n_);
    for (std::uint32_t k = 0; k < n_; ++k) {
      const std::uint32_t factor = a_[std::size_t{i} * n_ + k];
      const std::uint32_t* const of_b = &b_[std::size_t{k} * n_];
      for (std::uint32_t j = 0; j < n_; ++j) sum[j] += factor * of_b[j];
    }
    return sum;
  }

  /// Compares one row. Error: wic::failed, names the first wrong column.
  wic::Result<> check_row(const Words& c, std::uint32_t i) const {
    const Words expected = row(i);
    const Words got(c.begin() + static_cast<std::ptrdiff_t>(std::size_t{i} * n_),
                    c.begin() + static_cast<std::ptrdiff_t>(std::size_t{i + 1} * n_));
    std::size_t wrong = 0, first = 0;
    for (std::size_t j = n_; j-- > 0;) {
      if (got[j] == expected[j]) continue;
      ++wrong;
      first = j;
    }
    if (wrong == 0) return wic::ok();
    return wic::failed(std::to_string(wrong) + " wrong words in row " + std::to_string(i) +
                       " of C, the first in column " + std::to_string(first) + ": " + std::to_string(got[first]) +
                       ", should be " + std::to_string(expected[first]));
  }

  wic::Result<> check_all_rows(const Words& c) const {
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (wic::Result<> row = check_row(c, i); !row) return row;
    }
    return wic::ok();
  }

  /// Freivalds' check: C x = A (B x) for random vectors x. Per vector, a wrong row escapes with probability 2^-32, or
  /// up to 1/2 if all its errors are multiples of 2^31. A detected row is recomputed to name the wrong column.
  wic::Result<> check_by_vectors(const Words& c) const {
    for (std::uint32_t v = 0; v < kVectors; ++v) {
      Words x(n_);
      for (std::uint32_t j = 0; j < n_; ++j) x[j] = scrambled((std::uint64_t{v + 1} << 48) + j);
      const Words expected = times(a_, times(b_, x)), got = times(c, x);
      for (std::uint32_t i = 0; i < n_; ++i) {
        if (got[i] != expected[i]) return check_row(c, i);
      }
    }
    return wic::ok();
  }

 private:
  static constexpr std::uint32_t kVectors = 8;

  Words times(const Words& matrix, const Words& x) const {
    Words result(n_);
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t* const row = &matrix[std::size_t{i} * n_];
      std::uint32_t sum = 0;
      for (std::uint32_t j = 0; j < n_; ++j) sum += row[j] * x[j];
      result[i] = sum;
    }
    return result;
  }

  std::uint32_t n_;
  Words a_, b_;
};

}  // namespace sample::gem
