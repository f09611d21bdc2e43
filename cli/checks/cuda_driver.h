// The CUDA driver, asked through dlopen: wic-prof itself is built without CUDA and runs where there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

struct CudaDevice {
  int ordinal = 0;
  std::string name;
  std::optional<bool> host_native_atomics;
};

struct CudaDriver {
  int version = 0;  ///< 1000 * major + 10 * minor of the CUDA that the driver supports
  std::vector<CudaDevice> devices;
};

/// Errors: no driver, or one that does not start; with its own reason.
Result<CudaDriver> probe_cuda_driver();

}  // namespace wicprof::cli
