#include "cli/checks/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace wicprof::cli {

namespace {

// From cuda.h, whose values are stable.
using CuResult = int;
constexpr int kHostNativeAtomicSupported = 86;  // CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<CudaDriver> probe_cuda_driver() {
  // Stays loaded: the driver starts threads that must not lose their code.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("libcuda.so.1 is not here; install the NVIDIA driver to use a GPU");

  CuResult (*init)(unsigned) = nullptr;
  CuResult (*error_string)(CuResult, const char**) = nullptr;
  CuResult (*driver_version)(int*) = nullptr;
  CuResult (*device_count)(int*) = nullptr;
  CuResult (*device_get)(int*, int) = nullptr;
  CuResult (*device_name)(char*, int, int) = nullptr;
  CuResult (*device_attribute)(int*, int, int) = nullptr;
  if (!find(library, "cuInit", init) || !find(library, "cuGetErrorString", error_string) ||
      !find(library, "cuDriverGetVersion", driver_version) || !find(library, "cuDeviceGetCount", device_count) ||
      !find(library, "cuDeviceGet", device_get) || !find(library, "cuDeviceGetName", device_name) ||
      !find(library, "cuDeviceGetAttribute", device_attribute)) {
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
    return unavailable("the CUDA driver does not say what it is; see nvidia-smi");
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int handle = 0;
    char name[256] = {};
    if (device_get(&handle, ordinal) != 0 || device_name(name, sizeof name - 1, handle) != 0) continue;
    CudaDevice device{ordinal, name, std::nullopt};
    int atomics = 0;
    if (device_attribute(&atomics, kHostNativeAtomicSupported, handle) == 0) device.host_native_atomics = atomics != 0;
    driver.devices.push_back(device);
  }
  return driver;
}

}  // namespace wicprof::cli
