// The schema of a trace file, as SQL. docs/schema.md describes its meaning.
#pragma once

#include <cstdint>
#include <string>

#include "store/format/event_tables.h"
#include "store/sqlite/row_batch.h"

namespace wicprof::store {

inline constexpr std::int64_t kApplicationId = 0x57494350;  // "WICP"

/// CREATE TABLE of every table but the summaries, and the marks that identify a trace.
std::string create_tables_sql();

/// The indexes that match_signals() (store/write/signal_match.h) needs.
std::string create_signal_index_sql();

/// The other indexes, on time and on site, created at completion: updating them row by row would cost more than the
/// rows.
std::string create_indexes_sql();

/// Selects the ids of the texts that rows of events, `stat` and `sass` refer to. Summaries refer to texts of events.
std::string used_texts_sql();

/// Copies what still holds in the next segment of a recording, with its texts, from the attached trace `earlier`.
std::string copy_lasting_rows_sql();

/// The number of columns that a row is written with, including the process where events do not carry their id.
template <class Table>
constexpr std::size_t written_columns() {
  return kColumnCount<Table> + (has_own_id<Table>() ? 0 : 1);
}

/// INSERT of a batch of rows from the table `row_batch`, for events that do not carry their id.
template <class Table>
std::string insert_batch_sql() {
  static_assert(written_columns<Table>() <= kMaxBatchColumns);
  std::string names = kProcessColumn;
  Table::kColumns.for_each([&](const auto& column) { names += std::string(", ") + column.name; });
  return std::string("INSERT INTO ") + Table::kName + " (" + names + ") SELECT " +
         batch_columns(written_columns<Table>()) + " FROM " + kRowBatch;
}

/// INSERT with one parameter per written column. A second declaration of an id replaces the columns for which it has a
/// value, and keeps the others.
template <class Table>
std::string insert_sql() {
  std::string names, values, updates;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
    values += values.empty() ? "?" : ", ?";
    updates += (updates.empty() ? "" : ", ") + name + " = ifnull(excluded." + name + ", " + name + ")";
  };
  if (!has_own_id<Table>()) add(kProcessColumn);
  Table::kColumns.for_each([&](const auto& column) { add(column.name); });
  std::string sql = std::string("INSERT INTO ") + Table::kName + " (" + names + ") VALUES (" + values + ")";
  if (has_own_id<Table>()) sql += " ON CONFLICT (id) DO UPDATE SET " + updates;
  return sql;
}

/// SELECT of the columns that Table::Row has, for rows with id > ?, in order of id. Where these columns lack the row's
/// number or the process, the number and the process come first.
template <class Table>
std::string select_sql(std::int64_t version = kSchemaVersion) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  if (!has_own_id<Table>()) add("id");
  if (has_process<Table>()) add(kProcessColumn);
  Table::kColumns.for_each([&](const auto& column) {
    if (column.kIsRead) add(column.since > version ? "NULL" : column.name);
  });
  return "SELECT " + names + " FROM " + Table::kName + " WHERE id > ? ORDER BY id";
}

}  // namespace wicprof::store
