#include "store/sqlite/row_batch.h"

#include <sqlite3.h>

#include <new>

namespace wicprof::store {

namespace {

// An eponymous virtual table in SQLite's terms: it exists without CREATE. SQLite calls these functions from C, so none
// may throw.
struct Table {
  sqlite3_vtab base{};  // must be first: SQLite holds a pointer to it
  const RowBatch* rows = nullptr;
};

struct Cursor {
  sqlite3_vtab_cursor base{};  // must be first, too
  const Value* row = nullptr;
  const Value* end = nullptr;
  std::size_t columns = 0;
};

int connect(sqlite3* database, void* rows, int, const char* const*, sqlite3_vtab** made, char**) {
  const int code =
      sqlite3_declare_vtab(database, ("CREATE TABLE given (" + batch_columns(kMaxBatchColumns) + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* table = new (std::nothrow) Table;
  if (table == nullptr) return SQLITE_NOMEM;
  table->rows = static_cast<const RowBatch*>(rows);
  *made = &table->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

int plan(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }  // only full scans

int open(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
  auto* cursor = new (std::nothrow) Cursor;
  if (cursor == nullptr) return SQLITE_NOMEM;
  *made = &cursor->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int first(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto* cursor = reinterpret_cast<Cursor*>(base);
  const RowBatch& rows = *reinterpret_cast<Table*>(base->pVtab)->rows;
  cursor->row = rows.values;
  cursor->end = rows.values + rows.rows * rows.columns;
  cursor->columns = rows.columns;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
  auto* cursor = reinterpret_cast<Cursor*>(base);
  cursor->row += cursor->columns;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* base) {
  const auto* cursor = reinterpret_cast<Cursor*>(base);
  return cursor->row == cursor->end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const auto* cursor = reinterpret_cast<Cursor*>(base);
  const Value& value = cursor->row[number];  // the result stays NULL unless set
  if (value.known) sqlite3_result_int64(context, value.integer);
  return SQLITE_OK;
}

int row_number(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
  const auto* cursor = reinterpret_cast<Cursor*>(base);
  *number = (cursor->end - cursor->row) / static_cast<sqlite3_int64>(cursor->columns);
  return SQLITE_OK;
}

sqlite3_module make_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = plan;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = first;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = column;
  module.xRowid = row_number;
  return module;
}

}  // namespace

std::string batch_columns(std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += (i == 0 ? "c" : ", c") + std::to_string(i);
  return names;
}

int make_row_batch(sqlite3* database, const RowBatch& rows) {
  static const sqlite3_module kModule = make_module();
  return sqlite3_create_module_v2(database, kRowBatch, &kModule, const_cast<RowBatch*>(&rows), nullptr);
}

}  // namespace wicprof::store
