// Where a trace is while it is recorded: others may remove, move, replace or empty the file.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "protocol/result.h"

namespace wicprof::store {

enum class Place {
  there,
  removed,   ///< nothing has its name
  moved,     ///< it has another name
  replaced,  ///< another file has its name, and it has none
  emptied,   ///< its content is gone; stays so
  log_cut,   ///< that of its log is
};

/// One thread. Move-only.
class TracePlace {
 public:
  TracePlace() = default;
  /// `file`: an open descriptor of the trace, which stays the caller's.
  TracePlace(std::string path, int file);
  TracePlace(TracePlace&&) = default;
  TracePlace& operator=(TracePlace&&) = default;

  const std::string& path() const { return path_; }
  Place look();
  /// From now on the trace and its log may become shorter.
  void expect_shrinking() { shrinks_ = true; }
  /// SQLite has shortened the log.
  void log_was_emptied() { largest_log_ = 0; }
  /// Removes the names of its log and of the log's index, unless other files have these names: beside another trace
  /// they would be read as that one's.
  void remove_log_names() const;
  /// Where the trace is now; only of a trace that was moved.
  std::string name_now() const;
  /// Writes the trace to a new file: under its own name after its removal, else under another. Its log must be folded.
  /// Returns the name. Error: what failed.
  Result<std::string> write_again() const;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const std::string& path);
  bool is_log_cut();

  std::string path_;
  int file_ = -1;
  Identity log_, index_;
  off_t largest_ = 0, largest_log_ = 0;
  bool emptied_ = false, shrinks_ = false;
};

}  // namespace wicprof::store
