// Reads the summaries of a trace (level_of_detail.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"
#include "store/sqlite/sqlite.h"
#include "store/summaries/lane_block.h"
#include "store/summaries/lanes.h"
#include "store/summaries/level_of_detail.h"

namespace wicprof::store {

/// Selects rows of all kinds that overlap [begin, end), for Reader::within(). Rows that are longer than most of their
/// kind are listed by id, so that the others can be found by their begin.
struct RowRange {
  TimeNs begin = 0, end = 0;
  struct Kind {
    TimeNs short_ns = 0;  ///< rows that are not named are no longer than this
    std::vector<RowId> named;
  };
  std::array<Kind, kRowKinds> kinds;
};

/// The summaries of a trace. One thread at a time.
class Overview {
 public:
  /// `database` is open for reading. For a trace without summaries (an older trace, one that was not completed),
  /// computes them now in temporary tables and leaves the file unchanged. Errors: damaged summaries; `watch` returned
  /// false.
  static Result<Overview> open(Database database, const std::string& path, const SummaryWatch& watch = {});
  Overview(Overview&&) noexcept = default;
  Overview& operator=(Overview&&) noexcept = default;

  /// By kind, then by key and row.
  const std::vector<Lane>& lanes() const { return lanes_; }
  TimeNs origin() const { return origin_; }
  int top_level() const { return top_level_; }
  /// The traced time, as analyzer::TraceModel has it.
  TimeNs begin() const { return begin_; }
  TimeNs end() const { return end_; }
  std::uint64_t rows(RowKind kind) const { return kinds_[static_cast<std::size_t>(kind)].rows; }
  std::uint64_t rows() const;
  /// Whether the trace file has summaries.
  bool kept() const { return kept_; }

  /// Adjacent blocks of a lane, in order of time, that cover [begin, end): of `level`, and coarser where that level has
  /// no blocks.
  Result<std::vector<LaneBlock>> cover(std::uint32_t lane, TimeNs begin, TimeNs end, int level) const;
  Result<RowRange> range(TimeNs begin, TimeNs end) const;

 private:
  Overview() = default;
  Result<> load();
  Error damaged(const std::string& why) const;

  mutable Database database_;
  std::string path_;
  bool kept_ = false;
  std::vector<Lane> lanes_;
  TimeNs origin_ = 0, begin_ = 0, end_ = 0;
  int top_level_ = 0;
  struct Kind {
    std::uint64_t rows = 0;
    TimeNs short_ns = 0;
  };
  std::array<Kind, kRowKinds> kinds_;
  std::map<std::uint32_t, std::map<std::pair<int, std::int64_t>, RowId>> blocks_;  // of each lane, by level and number
};

}  // namespace wicprof::store
