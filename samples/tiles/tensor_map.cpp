#include "tiles/tensor_map.h"

#if defined(SAMPLE_HAVE_CUDA)
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

#include <string>

namespace sample::tiles {

#if defined(SAMPLE_HAVE_CUDA)
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));

wic::Result<TensorMap> map_matrix(const Bf16* matrix, std::uint32_t rows, std::uint32_t columns,
                                  std::uint32_t box_rows) {
  cudaFree(nullptr);  // the driver's function needs a current context
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    return wic::unavailable("the driver has no cuTensorMapEncodeTiled; it needs CUDA 12 or newer");
  }
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  CUtensorMap map{};
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t row_bytes[1] = {std::uint64_t{columns} * sizeof(Bf16)};
  const cuuint32_t box[2] = {64, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult made = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<Bf16*>(matrix), sizes, row_bytes,
                               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) {
    return wic::unavailable("describing a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
                            " to the copy engine failed with CUDA error " + std::to_string(made));
  }
  TensorMap result;
  __builtin_memcpy(&result, &map, sizeof result);
  return result;
}
#else
wic::Result<TensorMap> map_matrix(const Bf16*, std::uint32_t, std::uint32_t, std::uint32_t) {
  return wic::unavailable("built without CUDA");
}
#endif

}  // namespace sample::tiles
