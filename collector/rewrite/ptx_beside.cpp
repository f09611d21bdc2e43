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

// As who can change what Triton itself loads.
bool is_trusted(const struct stat& info) { return is_own_or_roots(info) && (info.st_mode & S_IWOTH) == 0; }

// CACHE/HASH/KERNEL.cubin, with KERNEL.ptx beside it.
std::string of_triton(std::string_view cubin) {
  std::error_code error, unread;
  int folders = 0;
  for (fs::directory_iterator folder(triton_folder(), error), end; !error && folder != end; folder.increment(error)) {
    if (++folders > kMostFolders) break;
    for (fs::directory_iterator file(folder->path(), unread); !unread && file != end; file.increment(unread)) {
      std::error_code unknown;
      if (file->path().extension() != ".cubin" || file->file_size(unknown) != cubin.size()) continue;
      if (trusted_bytes(file->path(), is_trusted) != cubin) continue;
      fs::path ptx = file->path();
      if (std::string text = trusted_bytes(ptx.replace_extension(".ptx"), is_trusted); !text.empty()) return text;
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
