#include "collector/rewrite/load_functions.h"

#include <vector>

namespace wicprof::collector {

namespace {

std::vector<CUfunction> functions_of(const RewriteDriver& driver, CUlibrary library, CUmodule module) {
  unsigned count = 0;
  std::vector<CUfunction> functions;
  if (library == nullptr) {
    if (driver.module_function_count == nullptr || driver.module_functions == nullptr ||
        driver.module_function_count(&count, module) != CUDA_SUCCESS) {
      return {};
    }
    functions.resize(count);
    if (count == 0 || driver.module_functions(functions.data(), count, module) != CUDA_SUCCESS) return {};
    return functions;
  }
  if (driver.library_kernel_count == nullptr || driver.library_kernels == nullptr ||
      driver.kernel_function == nullptr || driver.library_kernel_count(&count, library) != CUDA_SUCCESS) {
    return {};
  }
  std::vector<CUkernel> kernels(count);
  if (count == 0 || driver.library_kernels(kernels.data(), count, library) != CUDA_SUCCESS) return {};
  for (const CUkernel kernel : kernels) {
    CUfunction function = nullptr;
    if (driver.kernel_function(&function, kernel) == CUDA_SUCCESS) functions.push_back(function);
  }
  return functions;
}

}  // namespace

void load_functions(const RewriteDriver& driver, CUlibrary library, CUmodule module) {
  if (driver.load_function == nullptr) return;
  for (const CUfunction function : functions_of(driver, library, module)) driver.load_function(function);
}

}  // namespace wicprof::collector
