// Joins CUPTI's start and end markers to NVTX ranges.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/translate/records.h"
#include "protocol/events/nvtx.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// A range or mark with its names still as text. `domain` is empty for the default domain.
struct NamedRange {
  std::string name;
  std::string domain;
  TimeNs start = 0;
  TimeNs end = 0;
  std::uint32_t thread = 0;
  NvtxKind kind = NvtxKind::range;

  NvtxEvent event(TextId name_id, TextId domain_id) const;
};

/// One thread at a time.
class NvtxRanges {
 public:
  /// At most `max_open` ranges are kept open; further ones are lost, and said to be.
  explicit NvtxRanges(std::size_t max_open = 65'536) : max_open_(max_open) {}

  enum class Outcome {
    complete,  ///< `*out` is a mark, or a range that has just ended
    opened,    ///< its end is to come
    unusable,  ///< no time, no known flag, an end without its start, or too many open ones
  };
  Outcome add(const MarkerRecord& record, NamedRange* out);

  /// The ranges that are still open, each ended at `at`, which is when recording stops; ordered by start.
  std::vector<NamedRange> close_all(TimeNs at);

 private:
  std::size_t max_open_;
  std::unordered_map<std::uint32_t, NamedRange> open_;  // by marker id
};

}  // namespace wicprof::collector
