// Opens a trace file for reading, in whatever state its recorder left the file.
#pragma once

#include <string>

#include "protocol/result.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Opens a trace, complete or not, even without write permission. Returns 0 or SQLite's code.
int connect(const std::string& path, Database& database);

/// Folds a log into its file if the recorder was killed, or could not remove the log because readers kept the trace
/// open. A live recorder's lock prevents this. Without write permission the log stays, and readers use it.
void fold_abandoned_log(const std::string& path);

/// The message to the user for SQLite's code.
Error cannot_read(const std::string& path, int code, const std::string& reason);

/// The error about an unpacked copy, with the packed file's name in the copy's place.
Error renamed_to(const std::string& packed, const std::string& copy, Error error);

}  // namespace wicprof::store
