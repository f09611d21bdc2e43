// Functions of the CUDA driver that the runtime library does not offer.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace wic::cuda {

/// nullptr if the driver does not have it. Looked up through the runtime, so that nothing links to the driver.
template <class Function>
Function driver_function(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &entry, 11070, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function>(entry);
}

}  // namespace wic::cuda
