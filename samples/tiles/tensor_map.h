// Describes a matrix in device memory to the copy engine of Hopper GPUs.
#pragma once

#include "tiles/gemm.h"
#include "wic/types.h"

namespace sample::tiles {

/// A matrix of bfloat16 numbers, stored by rows, of which copies take boxes of box_rows x 64, swizzled by 128 bytes.
/// What lies outside the matrix reads as 0. Errors: built without CUDA; a driver that refuses the matrix.
wic::Result<TensorMap> map_matrix(const Bf16* matrix, std::uint32_t rows, std::uint32_t columns,
                                  std::uint32_t box_rows);

}  // namespace sample::tiles
