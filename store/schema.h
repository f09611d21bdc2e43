// The schema of a trace file, as SQL. What it means: docs/schema.md.
#pragma once

#include <cstdint>
#include <string>

#include "store/tables.h"

namespace wicprof::store {

inline constexpr std::int64_t kApplicationId = 0x57494350;  // "WICP"
inline constexpr std::int64_t kSchemaVersion = 2;

/// Every CREATE TABLE, and the marks by which a trace is known.
std::string create_tables_sql();

/// The indexes that matching waits with signals needs.
std::string create_signal_index_sql();

/// Fills wait.ready_ns from the signals.
std::string match_signals_sql();

/// The other indexes, on time and on site. They are made when the trace is completed: kept up row by row they would
/// cost more than the rows.
std::string create_indexes_sql();

/// INSERT with one parameter for each of the table's columns, in their order.
template <class Table>
std::string insert_sql() {
  std::string names, values;
  for (const auto& column : Table::kColumns) {
    names += (names.empty() ? "" : ", ") + std::string(column.name);
    values += values.empty() ? "?" : ", ?";
  }
  const char* verb = has_own_id<Table>() ? "INSERT OR REPLACE INTO " : "INSERT INTO ";
  return std::string(verb) + Table::kName + " (" + names + ") VALUES (" + values + ")";
}

}  // namespace wicprof::store
