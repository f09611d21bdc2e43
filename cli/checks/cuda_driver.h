// Queries the CUDA driver through dlopen: wic-prof itself is built without CUDA and runs on machines without it.
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
  std::optional<bool> managed_memory;
  std::optional<bool> concurrent_managed_access;  ///< by CPU and GPU at the same time, with faults and migrations
  std::optional<bool> pageable_memory_access;     ///< of memory that was never registered
  std::optional<bool> shared_by_mps;              ///< processes of CUDA's MPS run on it at the same time
};

/// What one device can do with another's memory.
struct CudaPeers {
  int from = 0;
  int to = 0;
  bool access = false;
  std::optional<bool> native_atomics;
};

struct CudaDriver {
  int version = 0;  ///< 1000 * major + 10 * minor of the CUDA that the driver supports
  std::vector<CudaDevice> devices;
  std::vector<CudaPeers> peers;  ///< every ordered pair
};

/// Errors: no driver; a driver that does not start, with its own reason.
Result<CudaDriver> probe_cuda_driver();

}  // namespace wicprof::cli
