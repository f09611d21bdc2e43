#include "collector/program/driver.h"

#include <dlfcn.h>

#include "collector/program/environment.h"
#include "protocol/uuid.h"

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

std::string device_name(int device) {
  static const auto get = find<decltype(&cuDeviceGetName)>("cuDeviceGetName");
  char name[256] = {};
  return get == nullptr || get(name, sizeof name - 1, static_cast<CUdevice>(device)) != CUDA_SUCCESS ? "" : name;
}

std::string device_uuid(int device) {
  static const auto get = find<CUresult (*)(CUuuid*, CUdevice)>("cuDeviceGetUuid_v2");
  CUuuid uuid{};
  return get == nullptr || get(&uuid, static_cast<CUdevice>(device)) != CUDA_SUCCESS ? "" : uuid_text(uuid.bytes);
}

std::uint64_t device_memory(int device) {
  static const auto get = find<CUresult (*)(std::size_t*, CUdevice)>("cuDeviceTotalMem_v2");
  std::size_t bytes = 0;
  return get == nullptr || get(&bytes, static_cast<CUdevice>(device)) != CUDA_SUCCESS ? 0 : bytes;
}

bool writes_gpu_dumps() {
  static const auto get = find<decltype(&cuCoredumpGetAttributeGlobal)>("cuCoredumpGetAttributeGlobal");
  if (get == nullptr) return !gpu_dump_variable().empty();  // before CUDA 12.1
  for (const CUcoredumpSettings each : {CU_COREDUMP_ENABLE_ON_EXCEPTION, CU_COREDUMP_ENABLE_USER_TRIGGER}) {
    bool on = false;
    std::size_t bytes = sizeof on;
    if (get(each, &on, &bytes) == CUDA_SUCCESS && on) return true;
  }
  return false;
}

}  // namespace wicprof::collector
