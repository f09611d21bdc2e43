#include "tiles/tensor_map.h"

#if defined(SAMPLE_HAVE_CUDA)
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

#include <string>

namespace sample::tiles {

#if defined(SAMPLE_HAVE_CUDA)
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));

namespace {

template <class Function>
Function* driver_function(const char* name) {
  cudaFree(nullptr);  // the driver's functions need a current context
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function*>(entry) : nullptr;
}

wic::Error no_function(const char* name) {
  return wic::unavailable(std::string("the driver has no ") + name + "; it needs CUDA 12 or newer");
}

wic::Result<TensorMap> made(CUresult status, const CUtensorMap& map, const std::string& what) {
  if (status != CUDA_SUCCESS) {
    return wic::unavailable("describing " + what + " to the copy engine failed with CUDA error " +
                            std::to_string(status));
  }
  TensorMap result;
  __builtin_memcpy(&result, &map, sizeof result);
  return result;
}

}  // namespace

wic::Result<TensorMap> map_matrix(const Bf16* matrix, std::uint32_t rows, std::uint32_t columns, std::uint32_t stride,
                                  std::uint32_t box_rows) {
  auto* const encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode == nullptr) return no_function("cuTensorMapEncodeTiled");
  CUtensorMap map{};
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t row_bytes[1] = {std::uint64_t{stride} * sizeof(Bf16)};
  const cuuint32_t box[2] = {64, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<Bf16*>(matrix), sizes, row_bytes,
                                 box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return made(status, map, "a matrix of " + std::to_string(rows) + " x " + std::to_string(columns));
}

wic::Result<TensorMap> map_images(const Bf16* images, std::uint32_t count, const Image& image,
                                  std::uint32_t box_pixels) {
  auto* const encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  if (encode == nullptr) return no_function("cuTensorMapEncodeIm2col");
  CUtensorMap map{};
  const cuuint64_t sizes[4] = {image.channels, image.width, image.height, count};
  const cuuint64_t pixel_bytes = image.channels * sizeof(Bf16);
  const cuuint64_t bytes[3] = {pixel_bytes, pixel_bytes * image.width, pixel_bytes * image.width * image.height};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  // The taps of the first pixel begin one before it, those of the last one end one after it: in the margin.
  const int lower[2] = {-1, -1}, upper[2] = {-1, -1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<Bf16*>(images), sizes, bytes, lower, upper, 64,
             box_pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return made(status, map,
              std::to_string(count) + " images of " + std::to_string(image.width) + " x " +
                  std::to_string(image.height) + " pixels and " + std::to_string(image.channels) + " channels");
}
#else
wic::Result<TensorMap> map_matrix(const Bf16*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
  return wic::unavailable("built without CUDA");
}
wic::Result<TensorMap> map_images(const Bf16*, std::uint32_t, const Image&, std::uint32_t) {
  return wic::unavailable("built without CUDA");
}
#endif

}  // namespace sample::tiles
