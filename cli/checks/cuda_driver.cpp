#include "cli/checks/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace wicprof::cli {

namespace {

// From cuda.h, whose values are stable.
using CuResult = int;
constexpr int kManagedMemory = 83;              // CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
constexpr int kHostNativeAtomicSupported = 86;  // CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
constexpr int kPageableMemoryAccess = 88;       // CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
constexpr int kConcurrentManagedAccess = 89;    // CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
constexpr int kMpsEnabled = 133;                // CU_DEVICE_ATTRIBUTE_MPS_ENABLED
constexpr int kNativeAtomicsBetween = 3;        // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<CudaDriver> probe_cuda_driver() {
  // Stays loaded, since the driver starts threads that need its code.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("libcuda.so.1 is missing; install the NVIDIA driver to use a GPU");

  CuResult (*init)(unsigned) = nullptr;
  CuResult (*error_string)(CuResult, const char**) = nullptr;
  CuResult (*driver_version)(int*) = nullptr;
  CuResult (*device_count)(int*) = nullptr;
  CuResult (*device_get)(int*, int) = nullptr;
  CuResult (*device_name)(char*, int, int) = nullptr;
  CuResult (*device_attribute)(int*, int, int) = nullptr;
  CuResult (*can_access_peer)(int*, int, int) = nullptr;
  CuResult (*peer_attribute)(int*, int, int, int) = nullptr;
  if (!find(library, "cuInit", init) || !find(library, "cuGetErrorString", error_string) ||
      !find(library, "cuDriverGetVersion", driver_version) || !find(library, "cuDeviceGetCount", device_count) ||
      !find(library, "cuDeviceGet", device_get) || !find(library, "cuDeviceGetName", device_name) ||
      !find(library, "cuDeviceGetAttribute", device_attribute) ||
      !find(library, "cuDeviceCanAccessPeer", can_access_peer) ||
      !find(library, "cuDeviceGetP2PAttribute", peer_attribute)) {
    return unavailable("libcuda.so.1 is not a complete CUDA driver; install the NVIDIA driver again");
  }
  const auto reason = [&](CuResult result) {
    const char* text = nullptr;
    error_string(result, &text);
    return std::string(text != nullptr ? text : "unknown error");
  };
  if (const CuResult result = init(0); result != 0) {
    return unavailable(fmt::format("the CUDA driver does not start: {} ({}); see nvidia-smi", reason(result), result));
  }
  CudaDriver driver;
  int count = 0;
  if (driver_version(&driver.version) != 0 || device_count(&count) != 0) {
    return unavailable("the CUDA driver does not report its version; see nvidia-smi");
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int handle = 0;
    char name[256] = {};
    if (device_get(&handle, ordinal) != 0 || device_name(name, sizeof name - 1, handle) != 0) continue;
    const auto ability = [&](int attribute) {
      int value = 0;
      return device_attribute(&value, attribute, handle) == 0 ? std::optional<bool>(value != 0) : std::nullopt;
    };
    driver.devices.push_back({ordinal, name, ability(kHostNativeAtomicSupported), ability(kManagedMemory),
                              ability(kConcurrentManagedAccess), ability(kPageableMemoryAccess), ability(kMpsEnabled)});
  }
  for (const CudaDevice& from : driver.devices) {
    for (const CudaDevice& to : driver.devices) {
      if (from.ordinal == to.ordinal) continue;
      int from_handle = 0, to_handle = 0, access = 0, atomics = 0;
      if (device_get(&from_handle, from.ordinal) != 0 || device_get(&to_handle, to.ordinal) != 0) continue;
      CudaPeers peers{from.ordinal, to.ordinal, false, std::nullopt};
      peers.access = can_access_peer(&access, from_handle, to_handle) == 0 && access != 0;
      if (peer_attribute(&atomics, kNativeAtomicsBetween, from_handle, to_handle) == 0)
        peers.native_atomics = atomics != 0;
      driver.peers.push_back(peers);
    }
  }
  return driver;
}

}  // namespace wicprof::cli
