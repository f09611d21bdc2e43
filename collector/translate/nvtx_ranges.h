// Joins CUPTI's start and end markers to NVTX ranges, and both to their colours and categories, which come as records
// of their own.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/cupti/records.h"
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
  bool has_colour = false;
  std::uint32_t colour = 0;    // ARGB
  std::uint32_t category = 0;  // 0 = none

  NvtxEvent event(TextId name_id, TextId domain_id) const;
};

/// One thread at a time.
class NvtxRanges {
 public:
  /// At most `max_open` ranges are kept open; further ones are lost, and said to be.
  explicit NvtxRanges(std::size_t max_open = 65'536) : max_open_(max_open) {}

  enum class Outcome {
    complete,  ///< `*out` is a range that has just ended
    opened,    ///< its end is to come
    mark,      ///< take_marks() gives it
    unusable,  ///< no time, no known flag, an end without its start, or too many open ones
  };
  Outcome add(const MarkerRecord& record, NamedRange* out);

  /// Colour and category of the range or mark with the same id, which may come before or after it.
  void add(const MarkerDataRecord& record);

  /// The marks since the last call: by the end of a buffer what belongs to them has come.
  std::vector<NamedRange> take_marks();

  /// The ranges that are still open, each ended at `at`, which is when recording stops, and the marks that nobody took;
  /// ordered by start.
  std::vector<NamedRange> close_all(TimeNs at);

 private:
  struct Look {
    bool has_colour = false;
    std::uint32_t colour = 0;
    std::uint32_t category = 0;
  };
  static void apply(const Look& look, NamedRange& range);
  void dress(std::uint32_t id, NamedRange& range);

  static constexpr std::size_t kMostLooks = 1'024;
  static constexpr std::size_t kMarksBack = 64;  // how far behind its mark a colour may come

  std::size_t max_open_;
  std::vector<std::pair<std::uint32_t, NamedRange>> marks_;  // with their marker ids
  std::unordered_map<std::uint32_t, Look> looks_;            // by marker id; they came before their markers
  std::unordered_map<std::uint32_t, NamedRange> open_;       // by marker id
};

}  // namespace wicprof::collector
