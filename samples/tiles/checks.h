// Kernels around a network: its data, and the check of its results.
#pragma once

#include <cmath>
#include <cstdint>

#include "tiles/product.h"
#include "tiles/scrambled.h"
#include "tiles/softmax.h"
#include "wic/launch.h"

namespace sample::tiles {

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
/// `tolerance` times (the size + 0.002 of the sum of the products' magnitudes), which bounds the rounding of both.
struct CheckProduct {
  Product product;
  bool right_by_depth;
  std::uint32_t seed;
  float tolerance;
  std::uint32_t* wrong;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t number = thread.block() * thread.block_size() + thread.index();
    const GemmSize& size = product.size;
    const std::uint32_t row = scrambled(3 * number + seed) % size.rows;
    const std::uint32_t column = scrambled(3 * number + 1 + seed) % size.columns;
    const std::uint32_t head = scrambled(3 * number + 2 + seed) % size.heads;
    float sum = 0, magnitude = 0;
    for (std::uint32_t k = 0; k < size.depth; ++k) {
      const float right =
          to_float(right_by_depth ? product.right.at(k, head, column) : product.right.at(column, head, k));
      const float term = product.scale * product.left_at(row, head, k) * right;
      sum += term;
      magnitude += term < 0 ? -term : term;
    }
    if (product.activation == Activation::gelu) {
      sum = 0.5f * sum * (1.0f + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
    }
    if (product.activation == Activation::relu && sum < 0) sum = 0;
    const float found = to_float(product.to.at(row, head, column));
    const float error = found < sum ? sum - found : found - sum;
    // Half a unit in bfloat16's last place, the tanh of the GPU, and the order of the sums. Not-a-number is wrong, too.
    if (!(error <= tolerance * ((sum < 0 ? -sum : sum) + 0.002f * magnitude + 1e-4f))) thread.fetch_add(wrong, 1);
  }
};

/// Computes elements of a softmax again, one per thread; counts those that are off by more than `tolerance` times the
/// size.
struct CheckSoftmax {
  SoftmaxRows work;
  float tolerance;
  std::uint32_t* wrong;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t number = thread.block() * thread.block_size() + thread.index();
    const std::uint32_t row = scrambled(3 * number) % work.rows, column = scrambled(3 * number + 1) % work.columns;
    const std::uint32_t head = scrambled(3 * number + 2) % work.heads;
    float sum = 0;
    for (std::uint32_t k = 0; k < work.columns; ++k) sum += expf(to_float(work.from.at(row, head, k)));
    const float wanted = expf(to_float(work.from.at(row, head, column))) / sum * work.factor(row, head, column);
    const float found = to_float(work.to.at(row, head, column));
    const float error = found < wanted ? wanted - found : found - wanted;
    if (!(error <= tolerance * wanted)) thread.fetch_add(wrong, 1);
  }
};

}  // namespace sample::tiles
