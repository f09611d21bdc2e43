// Loads the plugin with RTLD_LOCAL, under libwicprof_nvrtc.so as LD_PRELOAD: the plugin's call reaches NVRTC, and its
// PTX is kept.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

int main(int, char** arguments) {
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  const auto compile = plugin == nullptr ? nullptr : reinterpret_cast<int (*)(char*)>(dlsym(plugin, "compile"));
  const auto ptx_of =
      reinterpret_cast<const char* (*)(const void*, std::size_t)>(dlsym(RTLD_DEFAULT, "wicprof_nvrtc_ptx"));
  if (compile == nullptr || ptx_of == nullptr) {
    std::fprintf(stderr, "not loaded: %s\n", compile == nullptr ? dlerror() : "libwicprof_nvrtc.so");
    return 1;
  }
  char code = 0;
  const int result = compile(&code);
  const char* const ptx = ptx_of(&code, 1);
  std::printf("result %d, code %c, PTX %s\n", result, code, ptx == nullptr ? "unknown" : ptx);
  return result == 0 && code == 'C' && ptx != nullptr && std::strcmp(ptx, "PTX") == 0 ? 0 : 1;
}
