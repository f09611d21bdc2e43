#include "store/write/ballast.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "protocol/file_size_limit.h"

namespace wicprof::store {

namespace {
constexpr std::uint64_t kMinBytes = 256 << 10;
constexpr std::uint64_t kMaxBytes = 32 << 20;
}  // namespace

std::uint64_t free_beside(const std::string& path) {
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0) return kMaxBytes * 8;
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

Result<Ballast> Ballast::take(const std::string& path) {
  std::string name = path + "-ballast-XXXXXX";
  Ballast ballast;
  ballast.file_ = mkostemp(name.data(), O_CLOEXEC);
  if (ballast.file_ < 0) {
    return unavailable("cannot make a file beside " + path + ": " + std::strerror(errno) +
                       "; write the trace elsewhere with -o");
  }
  unlink(name.c_str());
  const std::uint64_t space = std::min(free_beside(path), file_size_limit().value_or(UINT64_MAX));
  ballast.bytes_ = std::clamp(space / 8 / 4096 * 4096, kMinBytes, kMaxBytes);
  const int failed = posix_fallocate(ballast.file_, 0, static_cast<off_t>(ballast.bytes_));
  if (failed != 0) {
    return unavailable("too little space to record to " + path + " (" + std::strerror(failed) +
                       (failed == EFBIG ? "); raise ulimit -f" : "); free some space") +
                       ", or write the trace elsewhere with -o");
  }
  return ballast;
}

void Ballast::release() {
  if (file_ >= 0) close(file_);
  file_ = -1;
  bytes_ = 0;
}

}  // namespace wicprof::store
