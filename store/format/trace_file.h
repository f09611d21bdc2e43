// A trace as a file: creates an empty trace, and checks by a file's header whether it is a trace that can be read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "store/format/trace_lock.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Of a trace, and of what SQLite puts beside it: arguments, and names of files and functions, are for its owner.
/// Whoever may read a trace could also hold up its recorder by SQLite's locks.
inline constexpr mode_t kTraceMode = 0600;

/// The name of SQLite's write-ahead log beside a trace: exists while recording, or after the recorder was killed.
std::string wal_of(const std::string& path);

/// Whether that log exists, and whether it is not empty.
bool has_wal_file(const std::string& path);
bool has_wal(const std::string& path);
/// Whether the trace was left in WAL mode and its log is not there: somebody copied the trace alone while it was
/// recorded, or removed the log.
bool lacks_log(const std::string& path);
/// Only for a trace that is known to have left WAL mode.
void remove_log(const std::string& path);

/// Removes a trace that this process has just made, with its companions, unless it is kept: whatever fails or throws
/// leaves nothing behind. Declare it before what has the trace open. Needs memory only when it is made.
class NewTrace {
 public:
  explicit NewTrace(const std::string& path);
  NewTrace(const NewTrace&) = delete;
  NewTrace& operator=(const NewTrace&) = delete;
  ~NewTrace();
  void made() { there_ = true; }
  void keep() { there_ = false; }

 private:
  std::vector<std::string> names_;
  bool there_ = false;
};

/// Creates an empty trace with its schema, open for writing and in WAL mode, and locks it. `more_tables`: SQL that
/// creates the tables of the rooms above. Errors: the file exists and overwrite is off; another recorder writes to it;
/// it is no regular file; the folder is missing or not writable; the disk is full.
Result<Database> create_trace(const std::string& path, bool overwrite, TraceLock& lock,
                              const std::string& more_tables = {});

/// Reads only the file's header. Errors: no such file, not a trace, truncated, a newer or an older version.
Result<> check_trace(const std::string& path);

}  // namespace wicprof::store
