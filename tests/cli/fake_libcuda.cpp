// A minimal CUDA driver: cuInit() loads the library that CUDA_INJECTION64_PATH names
// and calls its InitializeInjection(), once per process. It has a GPU for each letter in WICPROF_FAKE_GPUS, whose uuid
// is of that letter. Streams, events, contexts and captures: fake_gpu.h and fake_calls.cpp. Its modules are PTX texts;
// with WICPROF_FAKE_DOOR=closed it takes the image that the program named, whatever a callback puts there.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "tests/cli/fake_calls.h"
#include "tests/cli/fake_load.h"

namespace {

const char* gpus() {
  const char* letters = std::getenv("WICPROF_FAKE_GPUS");
  return letters == nullptr ? "" : letters;
}

std::atomic<const void*> pinned{nullptr};

bool exists(int device) { return device >= 0 && device < static_cast<int>(std::strlen(gpus())); }

}  // namespace

extern "C" int cuInit(unsigned) {
  static const int started = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr) return 0;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 0;
    const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    const int result = initialize == nullptr ? 0 : initialize();
    find_fake_cupti();
    return result;
  }();
  (void)started;
  return 0;
}

/// A call of the driver that takes until the file exists (join_app.cpp).
extern "C" void fake_wait_for_file(const char* path) {
  while (access(path, F_OK) != 0) usleep(1000);
}

extern "C" int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(std::strlen(gpus()));
  return 0;
}

extern "C" int cuDeviceGetName(char* name, int bytes, int device) {
  if (!exists(device)) return 101;
  std::snprintf(name, static_cast<std::size_t>(bytes), "GPU %c", gpus()[device]);
  return 0;
}

extern "C" int cuDeviceGetUuid_v2(void* uuid, int device) {
  if (!exists(device)) return 101;
  std::memset(uuid, gpus()[device], 16);
  return 0;
}

extern "C" int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = std::size_t{1} << 30;
  return exists(device) ? 0 : 101;
}

extern "C" int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 16 ? 132 : 0;  // multiprocessors
  return exists(device) ? 0 : 101;
}

extern "C" void fake_cuda_pin(const void* address) { pinned = address; }

// Memory at addresses below 4096 is the host's and pinned, that below 8192 the device's; the driver knows no other but
// the one that the program pins.
extern "C" int cuPointerGetAttributes(unsigned, int*, void** values, unsigned long long address) {
  const bool known = address < 8192 || reinterpret_cast<const void*>(address) == pinned;
  *static_cast<int*>(values[0]) = !known ? 0 : address < 4096 || address >= 8192 ? 1 : 2;
  return 0;
}
// 1: of each fault.
extern "C" int cuCoredumpGetAttributeGlobal(int attribute, void* value, std::size_t*) {
  *static_cast<bool*>(value) = attribute == 1 && std::getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION") != nullptr;
  return 0;
}
// What `wic-prof doctor` asks.
extern "C" int cuGetErrorString(int, const char** text) {
  *text = "an error of the test";
  return 0;
}
extern "C" int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
extern "C" int cuDeviceGet(int* handle, int device) {
  *handle = device;
  return exists(device) ? 0 : 101;
}
extern "C" int cuDeviceCanAccessPeer(int* access, int, int) {
  *access = 0;
  return 0;
}
extern "C" int cuDeviceGetP2PAttribute(int* value, int, int, int) {
  *value = 0;
  return 0;
}

namespace {

std::mutex libraries_mutex;
std::map<std::uintptr_t, std::string>& libraries() {
  static auto* const all = new std::map<std::uintptr_t, std::string>;
  return *all;
}

}  // namespace

extern "C" int cuLibraryLoadData(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) {
  static std::uintptr_t next = 0;
  const void* const replaced = image_after_callback(code);
  const char* const door = std::getenv("WICPROF_FAKE_DOOR");
  if (door == nullptr || std::string(door) != "closed") code = replaced;
  if (const char first = *static_cast<const char*>(code); first != '.' && first != '/') return 209;  // no PTX
  const std::lock_guard lock(libraries_mutex);
  libraries()[++next] = static_cast<const char*>(code);
  *library = reinterpret_cast<void*>(next);
  return 0;
}
extern "C" int cuLibraryUnload(void* library) {
  const std::lock_guard lock(libraries_mutex);
  libraries().erase(reinterpret_cast<std::uintptr_t>(library));
  return 0;
}
extern "C" int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  const std::lock_guard lock(libraries_mutex);
  *kernel = library;
  const std::string& text = libraries()[reinterpret_cast<std::uintptr_t>(library)];
  return text.find(std::string(" ") + name + "(") == std::string::npos ? 500 : 0;
}
// Further functions that a driver has which takes patched code.
extern "C" int cuLibraryGetGlobal() { return 801; }
extern "C" int cuModuleGetGlobal_v2() { return 801; }
extern "C" int cuKernelGetAttribute() { return 801; }
extern "C" int cuMemHostAlloc() { return 801; }
extern "C" int cuMemHostGetDevicePointer_v2() { return 801; }
extern "C" int cuMemcpyHtoDAsync_v2() { return 801; }
extern "C" int cuCtxGetDevice() { return 801; }
extern "C" int cuDevicePrimaryCtxRetain() { return 801; }
extern "C" int cuDevicePrimaryCtxRelease_v2() { return 801; }
