// The NVTX domains in which libraries mark what they do: what such a range says is not the program's word for its work.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace wicprof {

inline bool is_library_domain(std::string_view name) {
  constexpr std::array<std::string_view, 16> kLibraries = {
      "NCCL",     "NVSHMEM", "CUBLAS",   "cuBLAS", "cuBLASLt", "cuDNN",    "CUDNN_GRAPH", "cuFFT",
      "cuSPARSE", "CCCL",    "cuSOLVER", "CUB",    "Thrust",   "TensorRT", "UCX",         "cuTENSOR"};
  return std::find(kLibraries.begin(), kLibraries.end(), name) != kLibraries.end();
}

}  // namespace wicprof
