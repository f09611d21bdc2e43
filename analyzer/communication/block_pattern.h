// The access pattern of messages whose places are unknown, from the distances between the blocks that release each
// other. Weak evidence, because the trace does not show which data they exchange.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

struct BlockPattern {
  Pattern pattern = Pattern::unknown;
  double confidence = 0;      ///< 0 for unknown
  double share = 0;           ///< of the signals that fit the pattern
  std::size_t signals = 0;    ///< with known blocks
  std::size_t distances = 0;  ///< scatter-gather: distinct powers of two
};

/// `list`: indexes into `messages`.
BlockPattern block_pattern(const std::vector<Message>& messages, const std::vector<std::uint32_t>& list);

}  // namespace wicprof::analyzer
