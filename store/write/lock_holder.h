// Who keeps a recorder from writing.
#pragma once

#include <string>

namespace wicprof::store {

enum class LockKind { writers, all };

/// A process that has such a lock on the trace at `path` or on its log, as "sqlite3 (process 12)". Empty: the system
/// names none but this process. Reads /proc/locks.
std::string lock_holder(const std::string& path, LockKind wanted);

}  // namespace wicprof::store
