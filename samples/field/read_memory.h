// Fills arrays of weights, and reads them as fast as the memory delivers them: the work of kernels that models and
// their data keep busy.
#pragma once

#include <cstdint>

#include "wic/thread.h"

namespace sample {

struct alignas(16) Quad {
  std::uint32_t v[4];
};

/// The sum of the words of elements first, first + stride, ... below `count`, over all passes. A thread has four reads
/// in flight.
WIC_DEVICE inline std::uint32_t sum_of_quads(const wic::Thread& thread, const Quad* data, std::uint32_t count,
                                             std::uint32_t first, std::uint32_t stride, std::uint32_t passes) {
  constexpr std::uint32_t kInFlight = 4;
  std::uint32_t sum = 0;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    for (std::uint32_t i = first; i < count; i += kInFlight * stride) {
      Quad quads[kInFlight] = {};
      for (std::uint32_t k = 0; k < kInFlight; ++k) {
        if (i + k * stride < count) quads[k] = data[i + k * stride];
      }
      for (const Quad& quad : quads) sum += quad.v[0] + quad.v[1] + quad.v[2] + quad.v[3];
      thread.step();
    }
  }
  return sum;
}

/// All threads of the grid share the elements.
WIC_DEVICE inline std::uint32_t grid_sum_of_quads(const wic::Thread& thread, const Quad* data, std::uint32_t count,
                                                  std::uint32_t passes) {
  return sum_of_quads(thread, data, count, thread.block() * thread.block_size() + thread.index(),
                      thread.block_count() * thread.block_size(), passes);
}

/// A kernel. Weight i becomes i, so that sums are known without reading them.
struct FillWeights {
  Quad* weights;
  std::uint32_t count;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < count;
         i += thread.block_count() * thread.block_size()) {
      weights[i] = {{4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}};
      thread.step();
    }
  }
};

}  // namespace sample
