// A minimal CUDA driver: cuInit() loads the library that CUDA_INJECTION64_PATH names
// and calls its InitializeInjection(), once per process. It has a GPU for each letter in WICPROF_FAKE_GPUS, whose uuid
// is of that letter.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* gpus() {
  const char* letters = std::getenv("WICPROF_FAKE_GPUS");
  return letters == nullptr ? "" : letters;
}

bool exists(int device) { return device >= 0 && device < static_cast<int>(std::strlen(gpus())); }

}  // namespace

extern "C" int cuInit(unsigned) {
  static const int started = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr) return 0;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 0;
    const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    return initialize == nullptr ? 0 : initialize();
  }();
  (void)started;
  return 0;
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
