#include "cuda/load_kernels.h"

#include <cuda_runtime_api.h>

#include <set>
#include <vector>

#include "cuda/driver_function.h"
#include "src/device/gpu_entries.h"

namespace wic::cuda {

namespace {

constexpr unsigned kSince = 12040;  // the version of CUDA whose driver lists a module's functions

void load_functions(const std::set<CUmodule>& modules) {
  static const auto count = driver_function<PFN_cuModuleGetFunctionCount_v12040>("cuModuleGetFunctionCount", kSince);
  static const auto list = driver_function<PFN_cuModuleEnumerateFunctions_v12040>("cuModuleEnumerateFunctions", kSince);
  static const auto load = driver_function<PFN_cuFuncLoad_v12040>("cuFuncLoad", kSince);
  if (count == nullptr || list == nullptr || load == nullptr) return;
  for (const CUmodule module : modules) {
    unsigned functions = 0;
    if (count(&functions, module) != CUDA_SUCCESS || functions == 0) continue;
    std::vector<CUfunction> all(functions);
    if (list(all.data(), functions, module) != CUDA_SUCCESS) continue;
    for (const CUfunction function : all) load(function);
  }
}

}  // namespace

void load_kernels() {
  static const auto module_of = driver_function<PFN_cuFuncGetModule_v11000>("cuFuncGetModule", 11000);
  std::set<CUmodule> modules;
  for (const void* entry : detail::gpu_entries()) {
    cudaFuncAttributes unused{};
    cudaFunction_t function = nullptr;
    CUmodule module = nullptr;
    if (cudaFuncGetAttributes(&unused, entry) != cudaSuccess || cudaGetFuncBySymbol(&function, entry) != cudaSuccess) {
      cudaGetLastError();  // not compiled for this GPU
    } else if (module_of != nullptr && module_of(&module, function) == CUDA_SUCCESS) {
      modules.insert(module);
    }
  }
  load_functions(modules);
}

}  // namespace wic::cuda
