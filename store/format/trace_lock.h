// The lock of a trace that is being recorded: one recorder per file.
#pragma once

#include <string>
#include <utility>

namespace wicprof::store {

/// Held by the recorder for as long as it writes; the system releases it when the recorder dies. On network file
/// systems there is none, because there it would collide with SQLite's own locks. Move-only.
class TraceLock {
 public:
  TraceLock() = default;
  TraceLock(TraceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  TraceLock& operator=(TraceLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~TraceLock() { release(); }

  /// Takes over `file`, an open descriptor of the new trace. Release only after SQLite has closed the trace: closing
  /// any descriptor of a file drops SQLite's locks.
  explicit TraceLock(int file);
  void release();
  /// Below 0: released.
  int file() const { return file_; }

  /// Whether a living recorder holds the trace at `path`.
  static bool is_held(const std::string& path);

 private:
  int file_ = -1;
};

}  // namespace wicprof::store
