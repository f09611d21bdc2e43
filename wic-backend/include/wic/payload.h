// What a signal announces: which part of the program's data becomes readable. Optional, and only for the trace: the
// analyzer derives the access pattern (streaming, adjacent, scatter-gather, random) from it.
//
// Offsets count bytes from the start of the site's whole datum (the matrix, the image, the list of points; not the
// message's buffer, not one device's part). All signals of a site share that start, whoever sends them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/platform.h"
#include "wic/span.h"

namespace wic {

struct Payload {
  std::uint64_t offset = 0;  ///< of the first byte; recorded in steps of 4 bytes, up to 16 GiB
  std::uint64_t span = 0;    ///< bytes from the first to the end of the last, with the gaps between pieces
  std::uint32_t bytes = 0;   ///< sent, without gaps; 0 = not known
  std::uint32_t pieces = 0;  ///< contiguous runs of bytes; 0 = not known
  bool regular = true;       ///< all pieces have the same length and the same distance from the next

  /// One run of bytes.
  WIC_DEVICE static constexpr Payload contiguous(std::uint64_t offset, std::uint32_t bytes) {
    return {offset, bytes, bytes, 1, true};
  }
  /// `pieces` runs of `piece_bytes` each, `stride` bytes from one start to the next.
  WIC_DEVICE static constexpr Payload strided(std::uint64_t offset, std::uint32_t piece_bytes, std::uint64_t stride,
                                              std::uint32_t pieces) {
    return {offset, pieces == 0 ? 0 : (pieces - 1) * stride + piece_bytes, piece_bytes * pieces, pieces, true};
  }
  /// Any other layout.
  WIC_DEVICE static constexpr Payload scattered(std::uint64_t offset, std::uint64_t span, std::uint32_t bytes,
                                                std::uint32_t pieces) {
    return {offset, span, bytes, pieces, pieces <= 1};
  }
};

/// The elements with these numbers (ascending), each of `element_bytes` bytes. Time linear in their count.
inline Payload payload_of(Span<const std::uint32_t> numbers, std::uint32_t element_bytes) {
  if (numbers.empty()) return {};
  std::uint32_t pieces = 1;
  std::size_t run = 1, first_run = 0;
  std::uint32_t first_stride = 0, begin = numbers.front();
  bool regular = true;
  const auto close_run = [&](std::size_t length) {
    if (first_run == 0) first_run = length;
    regular = regular && length == first_run;
  };
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] == numbers[i - 1] + 1) {
      ++run;
      continue;
    }
    close_run(run);
    run = 1;
    const std::uint32_t stride = numbers[i] - begin;
    if (first_stride == 0) first_stride = stride;
    regular = regular && stride == first_stride;
    begin = numbers[i];
    ++pieces;
  }
  close_run(run);
  const std::uint64_t first = std::uint64_t{numbers.front()} * element_bytes;
  const std::uint64_t end = (std::uint64_t{numbers.back()} + 1) * element_bytes;
  return {first, end - first, static_cast<std::uint32_t>(numbers.size() * element_bytes), pieces, regular};
}

}  // namespace wic
