// Thin RAII over SQLite. Codes are SQLite's result codes; 0 is success. Users of this header need no SQLite header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace wicprof::store {

struct RowBatch;

/// What a failure means to the caller; Database::message() has the details.
enum class Fault { none, no_room, no_memory, input_output, corrupt, busy, cannot_open, ended, other };
Fault fault_of(int code);

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }
  ~Statement();

  explicit operator bool() const { return statement_ != nullptr; }

  void bind(int parameter, std::int64_t value);
  void bind_null(int parameter);
  /// The text must stay valid until the statement has run.
  void bind(int parameter, std::string_view text);
  /// The same for bytes.
  void bind_bytes(int parameter, std::string_view bytes);

  /// Runs a statement that returns no rows, and resets it. Returns 0 for success.
  int run();

  /// Moves to the next row; false after the last row or on failure. `code` is then 0 or the failure.
  bool next(int& code);
  void reset();

  std::int64_t integer(int column) const;
  bool is_null(int column) const;
  std::string_view text(int column) const;   ///< valid until the next row
  std::string_view bytes(int column) const;  ///< valid until the next row

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// The values of one row during Database::scan(). Columns count from 0.
class Values {
 public:
  explicit Values(sqlite3_value** values) : values_(values) {}
  std::int64_t integer(int column) const;
  bool is_null(int column) const;
  std::string_view text(int column) const;  ///< valid as long as this object

 private:
  sqlite3_value** values_;
};

enum class OpenMode {
  memory,  ///< read and write, without a file; the path means nothing
  create,  ///< read and write; creates the file if missing
  read_write,
  read_only,
  immutable,  ///< read only, with no writer: works in a folder without write permission
};

/// One connection. One thread at a time.
class Database {
 public:
  Database() = default;
  Database(Database&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), watch_(std::move(other.watch_)) {}
  Database& operator=(Database&& other) noexcept {
    std::swap(database_, other.database_);
    std::swap(watch_, other.watch_);
    return *this;
  }
  ~Database() { close(); }

  explicit operator bool() const { return database_ != nullptr; }

  /// Returns 0 for success. SQLite reads the file only at the first statement.
  int open(const std::string& path, OpenMode mode);
  /// From now on close() neither folds the log into the file nor removes it.
  void leave_log();
  void close();

  /// Runs statements and discards their results.
  int execute(const char* sql);
  int execute(const std::string& sql) { return execute(sql.c_str()); }

  /// An empty Statement when the SQL does not match the file's schema; `code` then has the failure.
  Statement prepare(std::string_view sql, int& code, bool persistent = false);

  /// Calls `take` for every row with id > after of a query that ends with "WHERE ... ORDER BY id" and whose only
  /// parameter is `after`. SQLite passes whole rows to a function in half the time of column-by-column access.
  template <class Take>
  int scan(std::string_view select, std::int64_t after, Take&& take) {
    return scan(
        select, after,
        [](void* to, const Values& values) { (*static_cast<std::remove_reference_t<Take>*>(to))(values); }, &take);
  }

  /// A function of integers for statements; empty: NULL. May run statements of the same connection.
  using Function = std::function<std::optional<std::int64_t>(const Values&)>;
  /// Lets statements of this connection call `name` with `arguments` values; views and triggers may not. An empty
  /// `function` removes it. Returns 0 for success. What the function throws ends the statement.
  int provide(const char* name, int arguments, Function function);

  /// Lets statements read the table `row_batch` (store/sqlite/row_batch.h). Returns 0 for success.
  int provide(const RowBatch& rows);

  /// The first column of the first row; `otherwise` without a row or on failure.
  std::int64_t integer(std::string_view sql, std::int64_t otherwise = 0);
  std::string text(std::string_view sql);

  /// The database as the bytes of a file; empty without memory for them.
  std::string bytes();

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  std::int64_t changes() const;

  bool in_transaction() const;
  /// Calls `goes_on` every few milliseconds while a statement runs; false ends the statement with a failure that
  /// fault_of() calls Fault::ended. Empty: no calls.
  void set_watch(std::function<bool()> goes_on);
  void set_busy_timeout(int milliseconds);

  /// SQLite's message for the last failure, and its kind.
  std::string message() const;
  Fault fault() const;

 private:
  int scan(std::string_view select, std::int64_t after, void (*show)(void*, const Values&), void* to);

  sqlite3* database_ = nullptr;
  std::unique_ptr<std::function<bool()>> watch_;  // at a fixed address: SQLite holds a pointer to it
};

}  // namespace wicprof::store
