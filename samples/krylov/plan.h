// Which rank owns which rows, which values it needs from other ranks, and the order of its own rows.
//
// A rank's rows are ordered: first the interior, which needs no other rank (C1), then the boundary (C2), each by global
// number. The first `dot_rows` rows count in dot products.
//
// Two ways to share a matrix:
//   halo   A rank owns whole rows. Before it multiplies its boundary rows it needs values of the vector at other ranks'
//          rows: its ghosts. Messages carry values of the vector.
//   sum    A rank owns the matrix that its own elements add up to, and every rank that shares a node has a row for it.
//          Each rank multiplies, and all add up the products of a shared row in rank order, so that all get the same
//          bits. Messages carry products.
#pragma once

#include <cstdint>
#include <vector>

#include "krylov/sell.h"

namespace sample::krylov {

enum class Sharing : std::uint32_t { halo, sum };

/// The values sent to one other rank, by global number.
struct Outgoing {
  std::uint32_t peer;
  std::vector<std::uint32_t> from;    ///< halo: own rows; sum: boundary rows, counted from the first boundary row
  std::vector<std::uint32_t> global;  ///< their global numbers
};

/// The values received from one other rank: the ghosts from `ghost_begin` on.
struct Incoming {
  std::uint32_t peer;
  std::uint32_t ghost_begin;
  std::vector<std::uint32_t> global;
};

/// In `Combine::from`: the rank's own product.
inline constexpr std::uint32_t kOwnProduct = ~0u;

/// sum: the products to add up for each boundary row, in rank order.
struct Combine {
  std::vector<std::uint32_t> begin{
      0};  ///< first element of each boundary row in `from`; one more element than boundary rows
  std::vector<std::uint32_t> from;  ///< a ghost's index, or kOwnProduct
};

struct RankPlan {
  Sharing sharing = Sharing::halo;
  std::uint32_t interior = 0;  ///< rows that need no other rank
  std::uint32_t dot_rows = 0;
  std::vector<std::uint32_t> global;  ///< global number of each own row
  Sell matrix;
  std::uint32_t ghosts = 0;
  std::vector<Outgoing> outgoing;  ///< one per other rank, in rank order
  std::vector<Incoming> incoming;  ///< one per other rank, in rank order
  Combine combine;

  std::uint32_t rows() const { return static_cast<std::uint32_t>(global.size()); }
  std::uint32_t boundary() const { return rows() - interior; }
};

/// Plans for sharing whole rows: rank r owns rank_begin[r] to rank_begin[r + 1] - 1. The matrix must be structurally
/// symmetric.
std::vector<RankPlan> halo_plans(const Csr& matrix, const std::vector<std::uint32_t>& rank_begin);

/// A rank's part of a matrix that is the sum of all parts. The rows belong to `nodes`, ascending; columns are global
/// numbers, all in `nodes`.
struct Part {
  std::vector<std::uint32_t> nodes;
  Csr matrix;
};
std::vector<RankPlan> sum_plans(const std::vector<Part>& parts, std::uint32_t rows_of_whole);

}  // namespace sample::krylov
