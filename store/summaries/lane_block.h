// A lane and its columns, 1,024 of them a block, and how a block lies in the trace as bytes.
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
  std::uint32_t row = 0;  ///< below each other in their track, from 0
  std::string name;       ///< of a thread
  std::uint64_t events = 0;
  std::uint32_t most = 0;  ///< at once, as the mean of one of the finest columns
};

/// `kBlockColumns` columns of 4^level ns, from number * kBlockColumns columns after the origin on.
struct LaneBlock {
  int level = 0;
  std::int64_t number = 0;
  std::vector<std::uint32_t> begins;  ///< things that begin in each column
  std::array<std::vector<std::int64_t>, kStates>
      time;  ///< ns times things, in each column; empty = never in that state
};
constexpr TimeNs column_width(int level) { return TimeNs{1} << (2 * level); }
constexpr TimeNs block_width(int level) { return column_width(level) * kBlockColumns; }

/// How a block lies in the trace.
std::string pack_block(const LaneBlock& block);
/// Error: the bytes are not a block.
Result<LaneBlock> unpack_block(std::string_view bytes, int level, std::int64_t number);

}  // namespace wicprof::store
