// Repetitions that show in the order of messages alone, without the program's iteration numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/communication/rhythm.h"

namespace wicprof::analyzer {

struct RepeatedStretch {
  std::size_t length = 0, start = 0;  ///< in messages; `start` is below `length`
  Counts counts;
  double share = 0;  ///< of the stretches with these counts
  std::size_t stretches = 0;
};

/// The shortest stretch of at most `longest` messages that has the same counts in at least the share `regular` of all
/// stretches, whatever its start and the order of messages within it; nothing if chance could explain the agreement.
std::optional<RepeatedStretch> shortest_repetition(const std::vector<Step>& steps, double regular, std::size_t longest);

struct RunLengths {
  double shortest = 0, longest = 0, mean = 0;  ///< messages in a row in one direction
  std::size_t runs = 0;
  double variation = 0;  ///< least variance of the counts of stretches, over that of independent messages
};

/// Nothing unless both the lengths of runs and the counts of long stretches vary as chance would make them vary. A
/// constant exchange whose messages overtake each other shows only the former.
std::optional<RunLengths> irregular_order(const std::vector<Step>& steps, const Counts& all);

/// Share of the transfers whose sender had just received the previous transfer: a ping-pong.
double answering_share(const std::vector<Step>& steps);

}  // namespace wicprof::analyzer
