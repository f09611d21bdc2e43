// The reference: steps the whole cube without slabs or messages. Every cell gives a share of itself to each neighbour,
// while the kernel gathers the neighbours' shares.
#pragma once

#include <utility>

#include "common/replay.h"
#include "g_stn/stencil.h"

namespace sample::stn {

inline Words initial_cube(std::uint32_t n) {
  Words cube(std::size_t{kFields} * n * n * n);
  for (std::size_t i = 0; i < cube.size(); ++i) cube[i] = scrambled(i);
  return cube;
}

/// Steps a cube `times` times.
inline void step_cube(Words& cube, std::uint32_t n, std::uint32_t times) {
  Words next(cube.size());
  const std::size_t plane = std::size_t{n} * n;
  for (std::uint32_t time = 0; time < times; ++time) {
    std::fill(next.begin(), next.end(), 0u);
    for (std::uint32_t field = 0; field < kFields; ++field) {
      const Cell weight = weight_of_cell(field);
      const Cell share = inverse_of(weight + 6);
      for (std::uint32_t z = 0; z < n; ++z) {
        const std::size_t here = (std::size_t{z} * kFields + field) * plane;
        const std::size_t other = (std::size_t{z} * kFields + 1 - field) * plane;
        const std::size_t heights = kFields * plane;  // from one plane of a field to its next
        // The share that would leave through a face stays in the cell.
        const std::size_t below = z == 0 ? here : here - heights, above = z + 1 == n ? here : here + heights;
        for (std::uint32_t y = 0; y < n; ++y) {
          const std::size_t row = std::size_t{y} * n;
          const std::size_t near = y == 0 ? row : row - n, far = y + 1 == n ? row : row + n;
          for (std::uint32_t x = 0; x < n; ++x) {
            const Cell cell = cube[here + row + x];
            const Cell part = share * cell;
            const Cell exchanged = kExchange * cell;
            next[here + row + x] += weight * part - exchanged;
            next[other + row + x] += exchanged;
            next[here + row + (x == 0 ? x : x - 1)] += part;
            next[here + row + (x + 1 == n ? x : x + 1)] += part;
            next[here + near + x] += part;
            next[here + far + x] += part;
            next[below + row + x] += part;
            next[above + row + x] += part;
          }
        }
      }
    }
    std::swap(cube, next);
  }
}

}  // namespace sample::stn
