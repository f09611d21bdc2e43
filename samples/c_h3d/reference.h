// The reference: averages the whole domain cell by cell, without ranks, ghosts, messages or boxes.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "c_h3d/domain.h"
#include "c_h3d/stencil.h"

namespace sample::h3d {

struct Comparison {
  std::size_t wrong = 0;
  std::string first;  ///< describes the first wrong cell; empty if there is none

  bool ok() const { return wrong == 0; }
};

class Reference {
 public:
  /// `field` is the domain after `iteration` iterations.
  Reference(const Domain& domain, std::vector<Cell> field, std::uint32_t iteration)
      : domain_(domain), field_(std::move(field)), next_(field_.size()), from_(iteration), iteration_(iteration) {}

  std::uint32_t from() const { return from_; }  ///< the iteration at which the reference started
  const std::vector<Cell>& field() const { return field_; }

  void advance_to(std::uint32_t iteration) {
    for (; iteration_ < iteration; ++iteration_) step();
  }

  Comparison compare(const std::vector<Cell>& field) const {
    Comparison result;
    for (std::size_t i = 0; i < field_.size(); ++i) {
      if (field[i] == field_[i]) continue;
      if (result.wrong++ == 0) result.first = describe(i, field[i]);
    }
    return result;
  }

 private:
  void step() {
    const std::uint32_t n = domain_.n;
    for (std::uint32_t z = 0; z < n; ++z) {
      for (std::uint32_t y = 0; y < n; ++y) average_row(y, z);
    }
    std::swap(field_, next_);
  }

  void average_row(std::uint32_t y, std::uint32_t z) {
    const std::uint32_t n = domain_.n;
    const std::uint32_t length = domain_.length_x();
    struct Row {
      const Cell* cells;
      Cell weight;
    };
    std::array<Row, 9> rows;
    for (std::uint32_t k = 0; k < 9; ++k) {
      const std::uint32_t dy = k % 3;  // 0, 1, 2 mean -1, 0, +1
      const std::uint32_t dz = k / 3;
      rows[k] = {&field_[domain_.index(0, (y + n + dy - 1) % n, (z + n + dz - 1) % n)], kWeight[dy] * kWeight[dz]};
    }
    Cell* const to = &next_[domain_.index(0, y, z)];
    for (std::uint32_t x = 0; x < length; ++x) {
      const std::uint32_t left = x == 0 ? length - 1 : x - 1;
      const std::uint32_t right = x + 1 == length ? 0 : x + 1;
      Cell sum = 0;
      for (const Row& row : rows) {
        sum += row.weight * (kWeight[0] * row.cells[left] + kWeight[1] * row.cells[x] + kWeight[2] * row.cells[right]);
      }
      to[x] = kInverseOfSum * sum;
    }
  }

  std::string describe(std::size_t i, Cell got) const {
    const auto x = static_cast<std::uint32_t>(i % domain_.length_x());
    const auto row = static_cast<std::uint32_t>(i / domain_.length_x());
    const std::uint32_t rank = domain_.rank_at(x);
    return "rank " + std::to_string(rank) + ", cell (" + std::to_string(x - domain_.begin_x(rank)) + ", " +
           std::to_string(row % domain_.n) + ", " + std::to_string(row / domain_.n) + ") after iteration " +
           std::to_string(iteration_) + " is " + std::to_string(got) + " and should be " + std::to_string(field_[i]);
  }

  Domain domain_;
  std::vector<Cell> field_, next_;
  std::uint32_t from_;
  std::uint32_t iteration_;
};

}  // namespace sample::h3d
