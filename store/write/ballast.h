// A little disk space, reserved while recording and freed when the disk is full, so that the counters of losses and the
// state of the trace can still be written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

/// The free space beside `path` in bytes, for this user.
std::uint64_t free_beside(const std::string& path);

/// The space belongs to a file without a name, so that even a killed tool leaves nothing behind.
class Ballast {
 public:
  Ballast() = default;
  Ballast(Ballast&& other) noexcept : file_(std::exchange(other.file_, -1)), bytes_(std::exchange(other.bytes_, 0)) {}
  Ballast& operator=(Ballast&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Ballast() { release(); }

  /// Reserves an eighth of the free space at `path`, within limits. Error: the disk is too full to record.
  static Result<Ballast> take(const std::string& path);

  std::uint64_t bytes() const { return bytes_; }
  void release();

 private:
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace wicprof::store
