// The files that SQLite opens beside a trace: its journal, its log, and the log's index. The user names none of them,
// so that others may put something there first.
#pragma once

#include <string>

namespace wicprof::store {

inline constexpr const char* kCompanions[] = {"-journal", "-wal", "-shm"};

/// From now on SQLite opens only companions that are regular files of somebody whom the reader trusts, and waits for
/// none. Once per process, before the first database is opened.
void guard_companions();

/// What keeps SQLite from opening a trace, as "t.wicprof-wal is a pipe"; empty: nothing.
std::string in_the_way_of(const std::string& trace);

}  // namespace wicprof::store
