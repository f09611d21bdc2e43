// Rows that a statement takes as if from a table: "INSERT INTO wait (...) SELECT c0, c1, ... FROM row_batch". SQLite
// takes many rows so in little more than half the time that one statement a row takes.
#pragma once

#include <cstddef>
#include <string>

#include "store/sqlite/value.h"

struct sqlite3;

namespace wicprof::store {

inline constexpr const char* kRowBatch = "row_batch";
inline constexpr std::size_t kMaxBatchColumns = 32;

/// The rows lie one behind the other.
struct RowBatch {
  const Value* values = nullptr;
  std::size_t columns = 0, rows = 0;
};

/// Makes the table for a connection's statements: they find what `rows` says while they run. It must outlive the
/// connection. SQLite's result code, 0 when it succeeded.
int make_row_batch(sqlite3* database, const RowBatch& rows);

/// "c0, c1, ...", so many.
std::string batch_columns(std::size_t count);

}  // namespace wicprof::store
