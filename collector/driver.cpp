#include "collector/driver.h"

#include <dlfcn.h>

namespace wicprof::collector {

namespace {

template <class Function>
Function find(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

int device_attribute(int device, CUdevice_attribute which) {
  static const auto get = find<decltype(&cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  int value = 0;
  if (get == nullptr || get(&value, which, static_cast<CUdevice>(device)) != CUDA_SUCCESS) return 0;
  return value < 0 ? 0 : value;
}

int device_count() {
  static const auto get = find<decltype(&cuDeviceGetCount)>("cuDeviceGetCount");
  int count = 0;
  return get == nullptr || get(&count) != CUDA_SUCCESS ? 0 : count;
}

}  // namespace wicprof::collector
