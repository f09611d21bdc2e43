#include "krylov/plan.h"

#include <algorithm>
#include <limits>

namespace sample::krylov {
namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

void sort_unique(Numbers& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// Adds the incoming lists of one rank. needed[peer]: the global numbers needed from that peer, ascending.
void add_incoming(RankPlan& plan, std::uint32_t rank, const std::vector<Numbers>& needed) {
  for (std::uint32_t peer = 0; peer < needed.size(); ++peer) {
    if (peer == rank) continue;
    plan.incoming.push_back({peer, plan.ghosts, needed[peer]});
    plan.ghosts += static_cast<std::uint32_t>(needed[peer].size());
  }
}

// Derives the outgoing lists from the incoming lists. place_of(rank, number) returns the value for Outgoing::from.
template <class PlaceOf>
void add_outgoing(std::vector<RankPlan>& plans, const PlaceOf& place_of) {
  for (std::uint32_t rank = 0; rank < plans.size(); ++rank) {
    for (std::uint32_t peer = 0; peer < plans.size(); ++peer) {
      if (peer == rank) continue;
      const Incoming& wanted = plans[peer].incoming[rank < peer ? rank : rank - 1];
      Outgoing out{peer, {}, wanted.global};
      for (const std::uint32_t number : wanted.global) out.from.push_back(place_of(rank, number));
      plans[rank].outgoing.push_back(std::move(out));
    }
  }
}

RankPlan halo_plan(const Csr& matrix, const Numbers& rank_begin, std::uint32_t rank, Numbers& local) {
  RankPlan plan;
  const std::uint32_t begin = rank_begin[rank], end = rank_begin[rank + 1];
  const auto is_own = [&](std::uint32_t number) { return number >= begin && number < end; };
  Numbers boundary;
  std::vector<Numbers> needed(rank_begin.size() - 1);
  for (std::uint32_t row = begin; row < end; ++row) {
    bool inside = true;
    for (std::uint32_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      const std::uint32_t column = matrix.columns[e];
      if (is_own(column)) continue;
      inside = false;
      const auto after = std::upper_bound(rank_begin.begin(), rank_begin.end(), column);
      needed[static_cast<std::size_t>(after - rank_begin.begin()) - 1].push_back(column);
    }
    (inside ? plan.global : boundary).push_back(row);
  }
  plan.interior = plan.rows();
  plan.global.insert(plan.global.end(), boundary.begin(), boundary.end());
  plan.dot_rows = plan.rows();
  for (Numbers& numbers : needed) sort_unique(numbers);
  add_incoming(plan, rank, needed);

  // Map global numbers to local indices; ghosts follow the own rows. Other ranks' entries of `local` stay unchanged.
  for (std::uint32_t i = 0; i < plan.rows(); ++i) local[plan.global[i]] = i;
  Numbers ghost_of(matrix.rows() - (end - begin), kNone);  // indexed by global number without this rank's range
  const auto squeezed = [&](std::uint32_t number) { return number < begin ? number : number - (end - begin); };
  for (const Incoming& in : plan.incoming) {
    for (std::uint32_t i = 0; i < in.global.size(); ++i) {
      ghost_of[squeezed(in.global[i])] = plan.rows() + in.ghost_begin + i;
    }
  }
  Csr own;
  for (const std::uint32_t row : plan.global) {
    for (std::uint32_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      const std::uint32_t column = matrix.columns[e];
      own.add(is_own(column) ? local[column] : ghost_of[squeezed(column)], matrix.values[e]);
    }
    own.end_row();
  }
  plan.matrix = sell_of(own);
  return plan;
}

// The rank that counts a shared row in dot products. Any common rule works; this rule balances the ranks.
std::uint32_t counting_rank(const Numbers& ranks, std::uint32_t number) { return ranks[number % ranks.size()]; }

// The ranks that own each global row, ascending, as a Csr without values.
Csr ranks_of_rows(const std::vector<Part>& parts, std::uint32_t rows) {
  Csr ranks;
  std::vector<std::size_t> at(parts.size());
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t rank = 0; rank < parts.size(); ++rank) {
      const Numbers& nodes = parts[rank].nodes;
      if (at[rank] == nodes.size() || nodes[at[rank]] != row) continue;
      ranks.columns.push_back(rank);
      ++at[rank];
    }
    ranks.end_row();
  }
  return ranks;
}

RankPlan sum_plan(const std::vector<Part>& parts, const Csr& ranks, std::uint32_t rank, Numbers& local) {
  RankPlan plan;
  plan.sharing = Sharing::sum;
  const Part& part = parts[rank];
  const auto sharers = [&](std::uint32_t number) {
    return Numbers(ranks.columns.begin() + ranks.begin[number], ranks.columns.begin() + ranks.begin[number + 1]);
  };
  Numbers counted, not_counted;
  std::vector<Numbers> needed(parts.size());
  for (const std::uint32_t number : part.nodes) {
    const Numbers shared_by = sharers(number);
    if (shared_by.size() == 1) {
      plan.global.push_back(number);
      continue;
    }
    (counting_rank(shared_by, number) == rank ? counted : not_counted).push_back(number);
    for (const std::uint32_t peer : shared_by) {
      if (peer != rank) needed[peer].push_back(number);
    }
  }
  plan.interior = plan.rows();
  plan.global.insert(plan.global.end(), counted.begin(), counted.end());
  plan.dot_rows = plan.rows();
  plan.global.insert(plan.global.end(), not_counted.begin(), not_counted.end());
  add_incoming(plan, rank, needed);

  for (std::uint32_t i = 0; i < plan.rows(); ++i) local[plan.global[i]] = i;
  Csr own;
  for (const std::uint32_t number : plan.global) {
    const auto row =
        static_cast<std::uint32_t>(std::lower_bound(part.nodes.begin(), part.nodes.end(), number) - part.nodes.begin());
    for (std::uint32_t e = part.matrix.begin[row]; e < part.matrix.begin[row + 1]; ++e) {
      own.add(local[part.matrix.columns[e]], part.matrix.values[e]);
    }
    own.end_row();
  }
  plan.matrix = sell_of(own);

  for (std::uint32_t i = plan.interior; i < plan.rows(); ++i) {
    const std::uint32_t number = plan.global[i];
    for (const std::uint32_t sharer : sharers(number)) {
      if (sharer == rank) {
        plan.combine.from.push_back(kOwnProduct);
        continue;
      }
      const Incoming& in = plan.incoming[sharer < rank ? sharer : sharer - 1];
      const auto at = std::lower_bound(in.global.begin(), in.global.end(), number) - in.global.begin();
      plan.combine.from.push_back(in.ghost_begin + static_cast<std::uint32_t>(at));
    }
    plan.combine.begin.push_back(static_cast<std::uint32_t>(plan.combine.from.size()));
  }
  return plan;
}

}  // namespace

std::vector<RankPlan> halo_plans(const Csr& matrix, const Numbers& rank_begin) {
  std::vector<RankPlan> plans;
  Numbers local(matrix.rows());
  for (std::uint32_t rank = 0; rank + 1 < rank_begin.size(); ++rank) {
    plans.push_back(halo_plan(matrix, rank_begin, rank, local));
  }
  add_outgoing(plans, [&](std::uint32_t, std::uint32_t number) { return local[number]; });
  return plans;
}

std::vector<RankPlan> sum_plans(const std::vector<Part>& parts, std::uint32_t rows_of_whole) {
  const Csr ranks = ranks_of_rows(parts, rows_of_whole);
  std::vector<RankPlan> plans;
  std::vector<Numbers> local(parts.size(), Numbers(rows_of_whole, kNone));
  for (std::uint32_t rank = 0; rank < parts.size(); ++rank) {
    plans.push_back(sum_plan(parts, ranks, rank, local[rank]));
  }
  add_outgoing(plans,
               [&](std::uint32_t rank, std::uint32_t number) { return local[rank][number] - plans[rank].interior; });
  return plans;
}

}  // namespace sample::krylov
