// Ranks that wait for each other in a circle.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "analyzer/stuck/rank_words.h"

namespace wicprof::analyzer {

/// All that wait for each other with that one, itself among them, in order of the ranks; empty: it is in no circle.
/// Without those that are explained.
RankWaits circle_of(const MpiJob& job, const RankWait& wait, const std::set<const RankWait*>& explained);

/// "ranks 0, 1 wait for each other: rank 0 in MPI_Recv from rank 1 for rank 1, and ..."
std::string circle_text(const RankWords& words, const RankWaits& circle);

/// Of a circle with a receive for which messages have come that do not fit. Nothing: there is none.
std::optional<std::string> misfits_text(const RankWords& words, const RankWaits& circle);

}  // namespace wicprof::analyzer
