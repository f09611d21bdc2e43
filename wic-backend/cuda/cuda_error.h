// Turns a cudaError_t into a Result, with CUDA's own description.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "protocol/result.h"

namespace wic::cuda {

inline wicprof::Error cuda_error(const char* what, cudaError_t status) {
  return wicprof::unavailable(std::string(what) + " failed: " + cudaGetErrorName(status) + ": " +
                              cudaGetErrorString(status));
}

inline wicprof::Result<> check(const char* what, cudaError_t status) {
  if (status != cudaSuccess) return cuda_error(what, status);
  return wicprof::ok();
}

}  // namespace wic::cuda
