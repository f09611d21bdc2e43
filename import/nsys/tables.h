// Tables of an Nsight Systems export. Its versions differ in tables and columns: what a file lacks reads as NULL.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "protocol/result.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::imports {

/// The current row. Columns count from 0, as they were asked for.
class NsysRow {
 public:
  explicit NsysRow(const store::Statement& row) : row_(row) {}
  bool has(int column) const { return !row_.is_null(column); }
  std::int64_t integer(int column) const { return row_.integer(column); }
  /// 0 for NULL and for what has no room.
  std::uint32_t number(int column) const;
  std::string_view text(int column) const { return row_.text(column); }

 private:
  const store::Statement& row_;
};

/// One thread.
class NsysTables {
 public:
  /// Error: the file is no database, is damaged, or holds what no export does (views, triggers).
  static Result<NsysTables> open(const std::string& path);

  bool has(const std::string& table) const { return tables_.contains(table); }
  const std::set<std::string>& names() const { return tables_; }
  std::uint64_t rows(const std::string& table);
  /// At most, from the last row's number: at once also for large tables.
  std::uint64_t rows_at_most(const std::string& table);

  /// Calls `take` per row, in the table's own order. A missing table has no rows. `columns`: their names, with spaces
  /// between. Error: the file is damaged there.
  Result<> each(const std::string& table, const std::string& columns, const std::function<void(const NsysRow&)>& take);

  /// The text with that id; empty: none.
  std::string string(std::int64_t id);
  /// Of META_DATA_EXPORT or EXPORT_META_DATA.
  std::string about_export(std::string_view name);

 private:
  NsysTables(std::string path, store::Database database) : path_(std::move(path)), database_(std::move(database)) {}
  Error damaged(const std::string& table, std::uint64_t row) const;

  std::string path_;
  store::Database database_;
  store::Statement string_;
  std::set<std::string> tables_;
};

}  // namespace wicprof::imports
