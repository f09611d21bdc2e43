// Refuses a file whose tables are not those of a trace, but compute their rows: a few bytes of SQL in a file can stand
// for rows without end.
#pragma once

#include <string>

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// What in the file's schema no wic-prof writes: a view, a trigger, a virtual table, a generated column, an index on an
/// expression, a table of ours whose `id` does not number its rows. Empty for a trace. `code`: 0 or SQLite's failure.
std::string foreign_schema(Database& database, int& code);

}  // namespace wicprof::store
