// A file without a place on a disk, for loads that name one.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace wicprof::collector {

/// Gone once the object is; whoever has opened it may read on. One thread at a time.
class MemoryFile {
 public:
  MemoryFile() = default;
  /// Where the system gives no such file (no /proc, no memory), the object has no path.
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("wicprof", MFD_CLOEXEC)) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    const std::string path = "/proc/self/fd/" + std::to_string(file_);
    if (file_ >= 0 && ::access(path.c_str(), R_OK) == 0) path_ = path;
  }
  MemoryFile(MemoryFile&& other) noexcept { *this = std::move(other); }
  MemoryFile& operator=(MemoryFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~MemoryFile() {
    if (file_ >= 0) ::close(file_);
  }

  /// Empty: there is no file.
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_;
};

}  // namespace wicprof::collector
