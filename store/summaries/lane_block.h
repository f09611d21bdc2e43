// A lane and its columns, 1,024 per block, and the encoding of a block in the trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"
#include "store/summaries/lanes.h"

namespace wicprof::store {

inline constexpr std::uint32_t kBlockColumns = 1024;

struct Lane {
  std::uint32_t id = 0;
  TrackKey track;
  std::uint32_t row = 0;  ///< vertical position in the track, from 0
  std::string name;       ///< of a thread, or of the only kernel of a stream
  std::uint64_t events = 0;
  std::uint32_t most = 0;  ///< events at once: the highest mean over a finest column
};

/// `kBlockColumns` columns of 4^level ns, beginning number * kBlockColumns columns after the origin.
struct LaneBlock {
  int level = 0;
  std::int64_t number = 0;
  std::vector<std::uint32_t> begins;  ///< events that begin in each column
  std::array<std::vector<std::int64_t>, kStates>
      time;  ///< total ns of all events in each column; empty = never in that state
};
constexpr TimeNs column_width(int level) { return TimeNs{1} << (2 * level); }
constexpr TimeNs block_width(int level) { return column_width(level) * kBlockColumns; }

/// The encoding of a block in the trace.
std::string pack_block(const LaneBlock& block);
/// Error: the bytes are not a block.
Result<LaneBlock> unpack_block(std::string_view bytes, int level, std::int64_t number);

}  // namespace wicprof::store
