// Summaries of a trace, from which a picture at any zoom is made of a bounded number of rows. Of every lane (store/lanes.h),
// for columns of a power of four of nanoseconds: how many things begin in each, and how much time is spent in each state.
// 1,024 columns are a block; a block is split in four where more than 4,096 things begin in it, so that busy stretches have
// fine columns and quiet ones cost nothing. docs/architecture.md, "Large traces", says why it is so.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "store/lanes.h"
#include "store/sqlite.h"

namespace wicprof::store {

inline constexpr std::uint32_t kBlockColumns = 1024;
inline constexpr std::uint64_t kSplitFrom = 4 * kBlockColumns;  ///< things that begin in a block which is not yet one of the finest
inline constexpr int kFinestBelowTop = 6;                       ///< levels: 4,096 blocks side by side at most

struct Lane {
  std::uint32_t id = 0;
  TrackKey track;
  std::uint32_t row = 0;  ///< below each other in their track, from 0
  std::string name;       ///< of a thread
  std::uint64_t events = 0;
  std::uint32_t most = 0;  ///< at once, as the mean of one of the finest columns
};

/// `kBlockColumns` columns of 4^level ns, from number * kBlockColumns columns after the origin on.
struct LaneBlock {
  int level = 0;
  std::int64_t number = 0;
  std::vector<std::uint32_t> begins;                    ///< things that begin in each column
  std::array<std::vector<std::int64_t>, kStates> time;  ///< ns times things, in each column; empty = never in that state
};
constexpr TimeNs column_width(int level) { return TimeNs{1} << (2 * level); }
constexpr TimeNs block_width(int level) { return column_width(level) * kBlockColumns; }

/// How a block lies in the trace.
std::string pack_block(const LaneBlock& block);
/// Error: the bytes are not a block.
Result<LaneBlock> unpack_block(std::string_view bytes, int level, std::int64_t number);

/// Where the rows of a kind are, and between which columns' times they lie.
struct LaneTable {
  const char* name;
  const char* begin;
  const char* end;
};
const LaneTable& table_of(RowKind kind);

/// Rows of all kinds that reach into [begin, end), for Reader::within(). Rows that are longer than most of their kind are
/// named one by one, so that others are found by when they begin.
struct RowRange {
  TimeNs begin = 0, end = 0;
  struct Kind {
    TimeNs short_ns = 0;  ///< what is not named is no longer than this
    std::vector<RowId> named;
  };
  std::array<Kind, kRowKinds> kinds;
};

/// Makes all summaries in the database's tables of that name, which are there and empty. In the caller's transaction. SQLite's
/// result code; 0 when it succeeded. `watch`: how much is done, 0 to 1; false = no further, which is a failure, too.
using SummaryWatch = std::function<bool(double part)>;
int summarise(Database& database, const SummaryWatch& watch = {});

/// The summaries of a trace. One thread at a time.
class Overview {
 public:
  /// `database` has been opened for reading. A trace without summaries (an older one, one that was not completed) gets them
  /// now, in temporary tables: the file stays as it is. Error: they are damaged; `watch` has said false.
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
  /// Whether the trace itself has them.
  bool kept() const { return kept_; }

  /// Blocks of a lane side by side, in order of time, that cover [begin, end): of `level`, and coarser where there are none.
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

/// CREATE TABLE of what the summaries lie in; `temporary`: beside the trace instead of in it.
std::string create_summary_tables_sql(bool temporary = false);

}  // namespace wicprof::store
