// Why processes of MPI or NCCL wait for each other: who has not come to what the others are in.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/stuck/waited_words.h"

namespace wicprof::analyzer {

struct RanksAnswer {
  std::vector<Cause> causes;             ///< of calls that have lasted long
  std::vector<StuckRank> ranks;          ///< all that have come
  std::set<std::uint32_t> wait_in_nccl;  ///< processes whose devices wait in a collective
};

/// `all`: a process that waits for one of these words is not what keeps the others.
RanksAnswer explain_ranks(const StuckView& view, const WaitedWords& all);

}  // namespace wicprof::analyzer
