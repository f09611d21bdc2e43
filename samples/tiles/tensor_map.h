// Describes a matrix or an image in device memory to the copy engine of Hopper GPUs. What lies outside reads as 0.
#pragma once

#include "tiles/product.h"
#include "wic/types.h"

namespace sample::tiles {

/// A matrix of rows x columns numbers, each row `stride` numbers after the one before, of which copies take boxes of
/// box_rows x 64, swizzled by 128 bytes. Errors: built without CUDA; a driver that refuses the matrix.
wic::Result<TensorMap> map_matrix(const Bf16* matrix, std::uint32_t rows, std::uint32_t columns, std::uint32_t stride,
                                  std::uint32_t box_rows);

/// Images whose pixels lie one after the other with all their channels, of which copies take 64 channels of box_pixels
/// consecutive pixels at one of 3 x 3 taps, swizzled by 128 bytes. Errors as above.
wic::Result<TensorMap> map_images(const Bf16* images, std::uint32_t count, const Image& image,
                                  std::uint32_t box_pixels);

}  // namespace sample::tiles
