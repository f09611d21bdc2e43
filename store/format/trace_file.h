// A trace as a file: making an empty one, and telling from its first bytes whether one can be read.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/result.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// The name of SQLite's write-ahead log beside a trace: there while it is recorded, or after its recorder was killed.
std::string wal_of(const std::string& path);

/// Whether that log is there; and whether it holds anything.
bool has_wal_file(const std::string& path);
bool has_wal(const std::string& path);
/// Only where the trace is known to have left the WAL mode.
void remove_log(const std::string& path);

/// Makes an empty trace with its schema, open for writing and in WAL mode. Errors: it exists and overwrite is off; the
/// folder is missing or not writable; no room.
Result<Database> make_trace(const std::string& path, bool overwrite);

/// Looks at the file's header only. Errors: no such file, not a trace, truncated, a newer or an older version.
Result<> check_trace(const std::string& path);

}  // namespace wicprof::store
