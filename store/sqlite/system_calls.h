// The system calls of SQLite that others can make fail.
#pragma once

namespace wicprof::store {

/// From now on, for all databases of this process:
///   a cut index of a log (-shm), which SQLite maps into memory, ends no process: its memory becomes empty, which
///   SQLite
///     takes for an index that has to be made again;
///   a lock that the system fails to take or to give back is tried again: SQLite would wait for a lock of its own.
///     Where that fails for good, it does not wait for long.
/// Once per process, before the first database is opened.
void guard_system_calls();

/// How many pieces of indexes were lost so far. A transaction in which that grows may have read old pages, and may not
/// be committed; its connection no longer shares the index with others. Any thread.
unsigned lost_indexes();

}  // namespace wicprof::store
