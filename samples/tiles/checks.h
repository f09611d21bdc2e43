// Kernels around a product: its data, and the check of its results.
#pragma once

#include <cmath>
#include <cstdint>

#include "tiles/bf16.h"
#include "wic/launch.h"

namespace sample::tiles {

WIC_DEVICE inline std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Numbers between -scale and scale, the same for the same seed.
struct FillRandom {
  Bf16* to;
  std::uint64_t count;
  std::uint32_t seed;
  float scale;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t step = std::uint64_t{thread.block_count()} * thread.block_size();
    for (std::uint64_t i = std::uint64_t{thread.block()} * thread.block_size() + thread.index(); i < count; i += step) {
      const std::uint32_t bits = scrambled(static_cast<std::uint32_t>(i) * 2654435761u + seed);
      to[i] = to_bf16(scale * (static_cast<float>(bits >> 8) / 8388608.0f - 1.0f));
    }
  }
};

/// Every element becomes `value`.
struct FillConstant {
  Bf16* to;
  std::uint64_t count;
  Bf16 value;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t step = std::uint64_t{thread.block_count()} * thread.block_size();
    for (std::uint64_t i = std::uint64_t{thread.block()} * thread.block_size() + thread.index(); i < count; i += step) {
      to[i] = value;
    }
  }
};

/// Counts the elements in which two results differ by a bit.
struct CountDifferences {
  const Bf16* a;
  const Bf16* b;
  std::uint64_t count;
  std::uint32_t* differences;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t step = std::uint64_t{thread.block_count()} * thread.block_size();
    std::uint32_t mine = 0;
    for (std::uint64_t i = std::uint64_t{thread.block()} * thread.block_size() + thread.index(); i < count; i += step) {
      mine += a[i] != b[i] ? 1 : 0;
    }
    if (mine != 0) thread.fetch_add(differences, mine);
  }
};

/// Computes elements of a product again, one per thread, with plain loops; counts those that are off by more than
/// `tolerance` times (1 + the sum of the products' magnitudes), which bounds the rounding of both computations.
struct CheckElements {
  const Bf16* left;
  const Bf16* right;
  const Bf16* result;
  std::uint32_t rows, columns, depth, seed;
  bool gelu;
  float tolerance;
  std::uint32_t* wrong;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t number = thread.block() * thread.block_size() + thread.index();
    const std::uint32_t row = scrambled(2 * number + seed) % rows, column = scrambled(2 * number + 1 + seed) % columns;
    float sum = 0, magnitude = 0;
    for (std::uint32_t k = 0; k < depth; ++k) {
      const float product =
          to_float(left[std::size_t{row} * depth + k]) * to_float(right[std::size_t{column} * depth + k]);
      sum += product;
      magnitude += product < 0 ? -product : product;
    }
    if (gelu) sum = 0.5f * sum * (1.0f + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
    const float found = to_float(result[std::size_t{row} * columns + column]);
    const float error = found < sum ? sum - found : found - sum;
    const float size = sum < 0 ? -sum : sum;
    // Half a unit in bfloat16's last place, the tanh of the GPU, and the order of the sums. Not-a-number is wrong, too.
    if (!(error <= tolerance * (size + 0.002f * magnitude + 1e-3f))) thread.fetch_add(wrong, 1);
  }
};

}  // namespace sample::tiles
