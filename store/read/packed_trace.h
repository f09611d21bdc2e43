// Traces packed with gzip, a tenth of the size. A reader reads an unpacked copy, which it removes when it closes.
#pragma once

#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

/// Whether the file begins with gzip's magic number.
bool is_packed(const std::string& path);

/// A trace unpacked to a temporary file (in $TMPDIR), which the destructor removes. Move-only.
class UnpackedTrace {
 public:
  /// Errors: the file cannot be opened, is damaged or truncated, or unpacks to more than 16 GiB; no space for the copy.
  static Result<UnpackedTrace> make(const std::string& packed);
  UnpackedTrace(UnpackedTrace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  UnpackedTrace& operator=(UnpackedTrace&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~UnpackedTrace();

  const std::string& path() const { return path_; }

 private:
  explicit UnpackedTrace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace wicprof::store
