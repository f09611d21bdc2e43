// Who owns which rows, what of the others' it needs, and in which order it keeps its own.
//
// A rank's rows: first those that need nothing of others (interior, C1), then the boundary (C2), each in the order of
// their global numbers. Rows that are summed in dot products are the first `dot_rows` of them.
//
// Two ways to share a matrix:
//   halo   a rank has whole rows. Before it can multiply its boundary rows it needs values of the vector at others'
//   rows: its
//          ghosts. Messages carry values of the vector.
//   sum    a rank has the matrix that its own elements add up to; several ranks have rows of their own for a shared
//   node.
//          Each multiplies, and the products of a shared row are added over its ranks, in the order of the ranks, so
//          that all get the same bits. Messages carry products.
#pragma once

#include <cstdint>
#include <vector>

#include "krylov/sell.h"

namespace sample::krylov {

enum class Sharing : std::uint32_t { halo, sum };

/// What goes to one other rank, in the order of global numbers.
struct Outgoing {
  std::uint32_t peer;
  std::vector<std::uint32_t> from;    ///< halo: own rows; sum: boundary rows, counted from the first of them
  std::vector<std::uint32_t> global;  ///< their numbers in the whole
};

/// What comes from one other rank: the ghosts from `ghost_begin` on.
struct Incoming {
  std::uint32_t peer;
  std::uint32_t ghost_begin;
  std::vector<std::uint32_t> global;
};

/// In `Combine::from`, the rank's own product.
inline constexpr std::uint32_t kOwnProduct = ~0u;

/// sum: which products each boundary row is the sum of, in the order of the ranks.
struct Combine {
  std::vector<std::uint32_t> begin{0};  ///< of each boundary row in `from`; one more than there are such rows
  std::vector<std::uint32_t> from;      ///< a ghost, or kOwnProduct
};

struct RankPlan {
  Sharing sharing = Sharing::halo;
  std::uint32_t interior = 0;  ///< rows that need nothing of others
  std::uint32_t dot_rows = 0;
  std::vector<std::uint32_t> global;  ///< the number of each own row in the whole
  Sell matrix;
  std::uint32_t ghosts = 0;
  std::vector<Outgoing> outgoing;  ///< to each other rank, in their order
  std::vector<Incoming> incoming;  ///< from each other rank, in their order
  Combine combine;

  std::uint32_t rows() const { return static_cast<std::uint32_t>(global.size()); }
  std::uint32_t boundary() const { return rows() - interior; }
};

/// Shares of whole rows: rank r has those from rank_begin[r] to rank_begin[r + 1]. The matrix's structure is symmetric.
std::vector<RankPlan> halo_plans(const Csr& matrix, const std::vector<std::uint32_t>& rank_begin);

/// A rank's part of a matrix that is a sum: rows for `nodes`, whose numbers ascend; columns are numbers in the whole
/// and among `nodes`.
struct Part {
  std::vector<std::uint32_t> nodes;
  Csr matrix;
};
std::vector<RankPlan> sum_plans(const std::vector<Part>& parts, std::uint32_t rows_of_whole);

}  // namespace sample::krylov
