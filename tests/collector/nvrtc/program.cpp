// Loads the plugin with RTLD_LOCAL, under libwicprof_nvrtc.so as LD_PRELOAD: the plugin's call reaches NVRTC, and its
// PTX is kept. Children of a fork compile, too, whatever other threads of the program do meanwhile.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace {

bool children_compile(int (*compile)(char*), const char* (*ptx_of)(const void*, std::size_t)) {
  std::atomic<bool> over{false};
  std::thread looks([&] {
    const std::string unknown(std::size_t{1} << 20, 'x');
    while (!over) ptx_of(unknown.data(), unknown.size());
  });
  bool all = true;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      char code = 0;
      _exit(compile(&code));
    }
    int status = 0;
    all = all && waitpid(child, &status, 0) == child && status == 0;
    if (!all) break;
  }
  over = true;
  looks.join();
  return all;
}

}  // namespace

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
  if (result != 0 || code != 'C' || ptx == nullptr || std::strcmp(ptx, "PTX") != 0) return 1;
  if (children_compile(compile, ptx_of)) return 0;
  std::printf("a child did not compile\n");
  return 1;
}
