// A file as memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace wicprof::collector {

/// A file mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int file = ::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // a pipe is no file
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      memory_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory_ == MAP_FAILED) memory_ = nullptr;
    }
    close(file);
  }
  ~MappedFile() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` objects at an offset; nullptr if the file ends before.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    if (memory_ == nullptr || offset > bytes_ || count > (bytes_ - offset) / sizeof(T) || offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(static_cast<const char*>(memory_) + offset);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace wicprof::collector
