// Traces packed with gzip, a tenth of the size. A reader reads an unpacked copy, which it removes when it closes.
// Several packed traces, one behind the other, are a file too: a digest of several.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

/// Whether the file begins with gzip's magic number.
bool is_packed(const std::string& path);

/// A trace unpacked to a temporary file (in $TMPDIR), which the destructor removes. Move-only.
class UnpackedTrace {
 public:
  explicit UnpackedTrace(std::string path) : path_(std::move(path)) {}
  UnpackedTrace(UnpackedTrace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  UnpackedTrace& operator=(UnpackedTrace&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~UnpackedTrace();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The traces of a packed file, in order. Move-only.
class PackedTraces {
 public:
  /// Error: the file cannot be opened.
  static Result<PackedTraces> open(const std::string& packed);
  PackedTraces(PackedTraces&&) noexcept;
  ~PackedTraces();

  /// Unpacks the next trace; nothing after the last. Errors: the file is damaged or truncated, or a trace unpacks to
  /// more than 16 GiB; no space for the copy.
  Result<std::optional<UnpackedTrace>> next();
  /// Whether next() has another one.
  bool more() const;

 private:
  class State;
  explicit PackedTraces(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::store
