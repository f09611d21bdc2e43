// How the ranges of the data that one stream of messages covers repeat and move from iteration to iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// One message and its place.
struct Access {
  std::uint32_t unit = 0;    ///< number of its communication iteration
  std::uint32_t stream = 0;  ///< messages of one site in one direction
  bool back = false;
  Place place;
  std::uint64_t source = kNobody;  ///< the block or thread that signals

  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
};

/// What makes two places the same range.
inline auto range_key(const Place& p) { return std::tuple(p.offset, p.span, p.bytes, p.pieces); }

struct StreamFacts {
  double bytes = 0;
  std::size_t messages = 0;
  std::size_t ranges = 0;    ///< distinct
  double repeated = 0;       ///< share of messages whose range the previous iteration also sent
  double ever_repeated = 0;  ///< share of messages whose range any earlier message sent
  // Moves from one iteration's range to the next:
  std::size_t moves = 0, up = 0, down = 0;
  std::size_t wraps = 0;           ///< from the top of the data to its bottom
  std::size_t contiguous = 0;      ///< to the end of the previous range
  std::size_t distances = 0;       ///< distinct distances
  std::size_t usual_distance = 0;  ///< moves by the most common one
  // Within iterations, from message to message:
  std::size_t steps = 0, contiguous_steps = 0;
  std::size_t most_per_unit = 0;  ///< messages
  // Passes through the data, whatever the iterations are. A pass ends before a range that it already holds, and where
  // the places go back from one end of the data to the other. Where several blocks send at once, the passes are those
  // of the stream or those of its blocks, whichever go through the data.
  double long_passes = 0;  ///< share of the bytes in passes long enough to show a direction
  double advancing = 0;    ///< of these, the share in passes that go through the data one way, at most out of order for
                           ///< a few messages
  double continuing = 0;   ///< share of the messages whose range begins or ends where the one before ends or begins
  // Stretches of messages, so that a long run shows no other pattern than a short one:
  double jumping = 0;  ///< share of the messages in stretches whose places hardly repeat and follow no order

  /// Share of the moves, without wraps, in the main direction.
  double order() const {
    const std::size_t falls = down - std::min(down, wraps);
    return up + falls == 0 ? 0 : static_cast<double>(std::max(up, falls)) / static_cast<double>(up + falls);
  }
};

/// One entry per stream. `accesses` in order of time; O(n log n).
std::vector<StreamFacts> stream_facts(const std::vector<Access>& accesses);

/// Sums; the shares are weighted means.
StreamFacts total(const std::vector<StreamFacts>& streams);

}  // namespace wicprof::analyzer
