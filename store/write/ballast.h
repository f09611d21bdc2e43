// A little of the disk, held back while recording: given up when the disk is full, so that the counters that say what
// was lost, and the state of the trace, can still be written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

/// The space is that of a file without a name, so that nothing is left behind even by a tool that is killed.
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

  /// Takes an eighth of what is free beside `path`, within limits. Error: the disk is too full to record.
  static Result<Ballast> take(const std::string& path);

  std::uint64_t bytes() const { return bytes_; }
  void release();

 private:
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace wicprof::store
