// A part of each library that `wic-prof run` preloads. A program that changes its root (chroot(1), unshare(1))
// and starts another leaves this library behind, and the loader there would write to the other program's stderr that it
// is missing: the library is taken from LD_PRELOAD where it is not found any more.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "protocol/environment.h"

namespace {

void forget_if_gone() {
  const char* const preloaded = std::getenv(wicprof::kPreloadVariable);
  if (preloaded == nullptr) return;
  std::string left;
  bool gone = false;
  for (std::string_view rest = preloaded; !rest.empty();) {
    const std::size_t end = rest.find_first_of(": ");
    const std::string file(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const bool ours = file.ends_with(wicprof::kNvrtcLibrary) || file.ends_with(wicprof::kMpiLibrary);
    if (ours && access(file.c_str(), F_OK) != 0) {
      gone = true;
    } else if (!file.empty()) {
      left += (left.empty() ? "" : ":") + file;
    }
  }
  if (!gone) return;
  if (left.empty()) {
    unsetenv(wicprof::kPreloadVariable);
  } else {
    setenv(wicprof::kPreloadVariable, left.c_str(), 1);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int chroot(const char* path) noexcept {
  const auto real = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "chroot"));
  if (real == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int result = real(path);
  if (result != 0) return result;
  const int error = errno;
  try {
    forget_if_gone();
  } catch (const std::bad_alloc&) {  // then the loader complains
  }
  errno = error;
  return result;
}
