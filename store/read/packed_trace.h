// Traces that were packed with gzip to be kept or sent: a tenth of the size. They are read from a copy that is unpacked
// for as long as it is read.
#pragma once

#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

/// Whether the file begins as gzip's do.
bool is_packed(const std::string& path);

/// A trace unpacked to a file among the temporary ones ($TMPDIR), which goes with this. Move-only.
class UnpackedTrace {
 public:
  /// Errors: it cannot be opened, is damaged or truncated, unpacks to more than 16 GiB; no room for the copy.
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
