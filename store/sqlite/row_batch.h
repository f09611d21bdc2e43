// Rows in memory that a statement reads as a table: "INSERT INTO wait (...) SELECT c0, c1, ... FROM row_batch". SQLite
// inserts many rows this way in little more than half the time of one statement per row.
#pragma once

#include <cstddef>
#include <string>

#include "store/sqlite/value.h"

struct sqlite3;

namespace wicprof::store {

inline constexpr const char* kRowBatch = "row_batch";
inline constexpr std::size_t kMaxBatchColumns = 32;

/// The rows are contiguous.
struct RowBatch {
  const Value* values = nullptr;
  std::size_t columns = 0, rows = 0;
};

/// Adds the table to a connection; statements read what `rows` holds while they run. `rows` must outlive the
/// connection. Returns SQLite's result code, 0 for success.
int make_row_batch(sqlite3* database, const RowBatch& rows);

/// "c0, c1, ...": `count` names.
std::string batch_columns(std::size_t count);

}  // namespace wicprof::store
