// A trace file opened for reading, whatever state its recorder left it in.
#pragma once

#include <string>

#include "protocol/result.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Connects to a trace, complete or not, also where nothing can be written. 0, or SQLite's code.
int connect(const std::string& path, Database& database);

/// Folds the log into the file that a killed recorder has left, or one that could not take it away because a reader was
/// always there. A recorder that lives holds a lock that prevents this, and where nothing can be written the log stays
/// and is read as it is.
void fold_abandoned_log(const std::string& path);

/// What to tell a user of such a code.
Error cannot_read(const std::string& path, int code, const std::string& reason);

/// What is wrong with the copy, which is unpacked, is wrong with the packed file.
Error said_of(const std::string& packed, const std::string& copy, Error error);

}  // namespace wicprof::store
