// Ranks that pass different things to one collective.
#pragma once

#include <optional>
#include <string>

#include "analyzer/stuck/rank_words.h"

namespace wicprof::analyzer {

/// What the ranks that wait in one collective do not have in common: the operation, the root or the sizes. Nothing:
/// they match, or one of them is not known to do.
std::optional<std::string> mismatch_text(const MpiJob& job, const RankWaits& waits);

}  // namespace wicprof::analyzer
