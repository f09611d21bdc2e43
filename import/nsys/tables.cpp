#include "import/nsys/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "protocol/events/text.h"
#include "store/read/schema_check.h"
#include "store/sqlite/text_table.h"

namespace wicprof::imports {

namespace {

std::string quoted(std::string_view name) { return fmt::format("\"{}\"", name); }

bool is_plain(std::string_view name) {
  return !name.empty() && name.find('"') == std::string_view::npos && !name.starts_with("sqlite_");
}

}  // namespace

std::uint32_t NsysRow::number(int column) const {
  const std::int64_t value = row_.integer(column);
  return value < 0 || value > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(value);
}

Result<NsysTables> NsysTables::open(const std::string& path) {
  store::Database database;
  // Immutable: no journal that lies beside the file is applied to it.
  int code = database.open(path, store::OpenMode::immutable);
  const auto refused = [&](const std::string& reason) {
    return bad_input(fmt::format("{} is damaged ({}); copy it again, or export it again with nsys export --type sqlite",
                                 path, reason));
  };
  if (code == 0) code = database.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  std::string foreign = code == 0 ? store::foreign_schema(database, code) : "";
  if (!foreign.empty()) {
    return bad_input(
        fmt::format("{} holds {}, which an export of Nsight Systems does not; export it again with nsys "
                    "export --type sqlite",
                    path, foreign));
  }
  NsysTables tables(path, std::move(database));
  if (code == 0) {
    store::Statement names = tables.database_.prepare("SELECT name FROM sqlite_master WHERE type = 'table'", code);
    while (code == 0 && names.next(code)) {
      if (is_plain(names.text(0))) tables.tables_.emplace(names.text(0));
    }
  }
  if (code != 0) return refused(tables.database_.message());
  if (!tables.has("StringIds") && !tables.has("META_DATA_EXPORT") && !tables.has("EXPORT_META_DATA")) {
    return bad_input(path +
                     " is an SQLite database, but no export of Nsight Systems (it has no table StringIds); wic-prof "
                     "import reads what nsys export --type sqlite writes");
  }
  if (tables.has("StringIds")) {
    tables.string_ = tables.database_.prepare("SELECT value FROM StringIds WHERE id = ?", code, true);
    if (code != 0) return refused(tables.database_.message());
  }
  return tables;
}

Error NsysTables::damaged(const std::string& table, std::uint64_t row) const {
  return bad_input(
      fmt::format("{} is damaged in row {} of table {} ({}); copy it again, or export it again with nsys "
                  "export --type sqlite",
                  path_, row, table, database_.message()));
}

std::uint64_t NsysTables::rows(const std::string& table) {
  return static_cast<std::uint64_t>(database_.integer("SELECT count(*) FROM " + quoted(table)));
}

std::uint64_t NsysTables::rows_at_most(const std::string& table) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(database_.integer("SELECT max(rowid) FROM " + quoted(table)), 0));
}

Result<> NsysTables::each(const std::string& table, const std::string& columns,
                          const std::function<void(const NsysRow&)>& take) {
  if (!has(table)) return ok();
  int code = 0;
  std::set<std::string, std::less<>> there;
  {
    store::Statement info = database_.prepare("PRAGMA table_info(" + quoted(table) + ")", code);
    while (code == 0 && info.next(code)) there.emplace(info.text(1));
  }
  std::string sql;
  std::istringstream names(columns);
  for (std::string column; names >> column;) {
    sql += (sql.empty() ? "SELECT " : ", ") + (there.contains(column) ? quoted(column) : "NULL");
  }
  std::uint64_t row = 1;
  store::Statement statement;
  if (code == 0) statement = database_.prepare(sql + " FROM " + quoted(table), code);
  const NsysRow current(statement);
  for (; code == 0 && statement.next(code); ++row) take(current);
  if (code != 0) return damaged(table, row);
  return ok();
}

std::string NsysTables::string(std::int64_t id) {
  if (!string_) return {};
  string_.bind(1, id);
  int code = 0;
  std::string text = string_.next(code) ? std::string(string_.text(0).substr(0, kMaxTextLength)) : std::string();
  string_.reset();
  return text;
}

std::string NsysTables::about_export(std::string_view name) {
  std::string value;
  for (const char* const table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    const Result<> read = each(table, "name value", [&](const NsysRow& row) {
      if (row.text(0) == name) value = row.text(1);
    });
    if (read && !value.empty()) break;
  }
  return value;
}

}  // namespace wicprof::imports
