#include "collector/rewrite/ptx_beside.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "collector/rewrite/file_bytes.h"

namespace wicprof::collector {

namespace fs = std::filesystem;

namespace {

// A look into more folders than that would delay each load of the program (chosen).
constexpr int kMostFolders = 20'000;

std::string of_nvrtc(std::string_view cubin) {
  using Find = const char* (*)(const void*, std::size_t);
  const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "wicprof_nvrtc_ptx"));
  const char* const text = find == nullptr ? nullptr : find(cubin.data(), cubin.size());
  return text == nullptr ? std::string() : std::string(text);
}

fs::path triton_folder() {
  if (const char* const cache = std::getenv("TRITON_CACHE_DIR"); cache != nullptr && *cache != '\0') return cache;
  if (const char* const home = std::getenv("TRITON_HOME"); home != nullptr && *home != '\0') {
    return fs::path(home) / ".triton" / "cache";
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home) / ".triton" / "cache";
}

// CACHE/HASH/KERNEL.cubin, with KERNEL.ptx beside it.
std::string of_triton(std::string_view cubin) {
  std::error_code error;
  int folders = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(triton_folder(), error)) {
    if (++folders > kMostFolders) break;
    if (!folder.is_directory(error)) continue;
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path(), error)) {
      if (file.path().extension() != ".cubin" || file.file_size(error) != cubin.size()) continue;
      if (file_bytes(file.path()) != cubin) continue;
      fs::path ptx = file.path();
      if (std::string text = file_bytes(ptx.replace_extension(".ptx")); !text.empty()) return text;
    }
  }
  return {};
}

}  // namespace

std::string ptx_beside(std::string_view cubin) {
  if (std::string text = of_nvrtc(cubin); !text.empty()) return text;
  return of_triton(cubin);
}

}  // namespace wicprof::collector
