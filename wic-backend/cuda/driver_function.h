// Functions of the CUDA driver that the runtime library does not offer.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace wic::cuda {

/// nullptr if the driver does not have it. Looked up through the runtime, so that nothing links to the driver.
/// `version`: of CUDA, that of the function's form.
template <class Function>
Function driver_function(const char* name, unsigned version = 11070) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function>(entry);
}

}  // namespace wic::cuda
