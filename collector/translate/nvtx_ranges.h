// Joins CUPTI's start and end markers to NVTX ranges, and adds colours and categories, which arrive as separate
// records.
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

/// A range or mark with its names as text. `domain` is empty for the default domain.
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
  /// At most `max_open` ranges are open at a time; add() reports further ones as unusable.
  explicit NvtxRanges(std::size_t max_open = 65'536) : max_open_(max_open) {}

  enum class Outcome {
    complete,  ///< a range ended, and is in `*out`
    opened,    ///< a range began
    mark,      ///< take_marks() will return it
    unusable,  ///< no time, no known flag, an end without a start, or too many open ranges
  };
  Outcome add(const MarkerRecord& record, NamedRange* out);

  /// Adds colour and category of the range or mark with the same id. The record may arrive before or after its marker.
  void add(const MarkerDataRecord& record);

  /// The marks since the last call. Call it at the end of a buffer, when their colours have arrived.
  std::vector<NamedRange> take_marks();

  /// The open ranges, ended at `at` (the time when recording stops), and the remaining marks; ordered by start.
  std::vector<NamedRange> close_all(TimeNs at);

 private:
  struct MarkerAttributes {
    bool has_colour = false;
    std::uint32_t colour = 0;
    std::uint32_t category = 0;
  };
  static void apply(const MarkerAttributes& attributes, NamedRange& range);
  void apply_pending(std::uint32_t id, NamedRange& range);

  static constexpr std::size_t kMaxPending = 1'024;
  static constexpr std::size_t kMaxMarksBack = 64;  // how many marks later a colour may arrive

  std::size_t max_open_;
  std::vector<std::pair<std::uint32_t, NamedRange>> marks_;      // with their marker ids
  std::unordered_map<std::uint32_t, MarkerAttributes> pending_;  // by marker id; they arrived before their markers
  std::unordered_map<std::uint32_t, NamedRange> open_;           // by marker id
};

}  // namespace wicprof::collector
