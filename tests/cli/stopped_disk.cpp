// Preloaded by test_stopped_disk.py: a disk that stops answering. While the file WICPROF_TEST_STOPPED exists, writes to
// files whose names contain WICPROF_TEST_DISK never return.
#include <dlfcn.h>
#include <limits.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void answer(int file) {
  const int error = errno;
  const char* const stopped = std::getenv("WICPROF_TEST_STOPPED");
  const char* const disk = std::getenv("WICPROF_TEST_DISK");
  char link[64], name[PATH_MAX] = {};
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (stopped != nullptr && disk != nullptr && readlink(link, name, sizeof name - 1) > 0 &&
      std::strstr(name, disk) != nullptr) {
    while (access(stopped, F_OK) == 0) usleep(20'000);
  }
  errno = error;
}

template <class Call>
Call next(const char* name) {
  return reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t at) {
  static const auto call = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  answer(file);
  return call(file, data, bytes, at);
}

ssize_t write(int file, const void* data, size_t bytes) {
  static const auto call = next<ssize_t (*)(int, const void*, size_t)>("write");
  answer(file);
  return call(file, data, bytes);
}

}  // extern "C"
