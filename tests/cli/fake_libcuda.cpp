// A CUDA driver reduced to what a tool sees of its start: cuInit() loads the library that CUDA_INJECTION64_PATH names and
// calls its InitializeInjection(), once a process.
#include <dlfcn.h>

#include <cstdlib>

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
