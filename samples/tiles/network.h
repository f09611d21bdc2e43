// Parts of neural networks as chains of dependent kernels: matrices, and layers that compute some of them from others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tiles/product.h"

namespace sample::tiles {

struct MatrixSpec {
  std::uint32_t rows = 0, columns = 0;
  float scale = 0;  ///< filled with random numbers from -scale to scale; 0: a layer computes it
};

/// A part of a matrix.
struct MatrixPart {
  std::size_t matrix = 0;
  std::uint32_t first_row = 0, first_column = 0;
  std::uint32_t head_columns = 0;  ///< see Matrix
};

struct Layer {
  std::string name;
  bool softmax = false;         ///< of `left`, else a product
  bool per_head = false;        ///< a product with tiles of its own: as many columns as a head has
  bool right_by_depth = false;  ///< see Gemm
  GemmSize size = {};           ///< softmax: no depth
  Image image = {};
  MatrixPart left = {}, right = {}, to = {};
  float scale = 1;
  Activation activation = Activation::none;
  std::optional<std::size_t> left_from = {}, right_from = {};  ///< the layers that compute the factors
  /// Whoever computed `left` has waited for `right`, too, where columns of different slices share a semaphore.
  bool right_comes_with_left = false;
  std::uint32_t slices = 1;  ///< equal parts of the result's columns of which consumers need equal parts

  double operations() const { return softmax ? 0 : 2.0 * size.rows * size.columns * size.depth * size.heads; }
};

/// Each layer needs none but layers before it.
struct Network {
  std::string name;
  std::vector<MatrixSpec> matrices;
  std::vector<Layer> layers;

  double operations() const {
    double sum = 0;
    for (const Layer& layer : layers) sum += layer.operations();
    return sum;
  }
};

/// GPT-3's feed-forward layer, or one like it: hidden = gelu(input x weights), output = hidden x weights.
Network feed_forward(std::uint32_t batch, std::uint32_t width = 12288, std::uint32_t hidden = 6144);

/// GPT-3's attention, or one like it: queries, keys and values of `batch` tokens in one product; per head the scores of
/// `keys` tokens (those, and as many before them as are missing, whose keys and values are kept), their softmax with
/// dropout, and the weighted values; the output's product. keys: at least `batch`, a multiple of 64. head: 128 columns.
Network attention(std::uint32_t batch, std::uint32_t keys, std::uint32_t width = 12288, std::uint32_t heads = 12,
                  std::uint32_t head = 128);

/// Two convolutions of 3 x 3 taps with relu after each, as in a block of ResNet.
Network convolutions(std::uint32_t images, std::uint32_t pixels_on_a_side, std::uint32_t channels);

}  // namespace sample::tiles
