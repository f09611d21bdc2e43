#include "store/sqlite/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "store/sqlite/companions.h"
#include "store/sqlite/row_batch.h"
#include "store/sqlite/system_calls.h"
#include "store/sqlite/text_table.h"

namespace wicprof::store {

Fault fault_of(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
      return Fault::none;
    case SQLITE_FULL:
      return Fault::no_room;
    case SQLITE_NOMEM:
      return Fault::no_memory;
    case SQLITE_IOERR:
      return Fault::input_output;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:
      return Fault::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // it tried for ten seconds
      return Fault::busy;
    case SQLITE_INTERRUPT:
      return Fault::ended;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Fault::cannot_open;
    default:
      return Fault::other;
  }
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_, parameter, value); }

void Statement::bind_null(int parameter) { sqlite3_bind_null(statement_, parameter); }

void Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL instead of the empty text.
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text(statement_, parameter, data, static_cast<int>(text.size()), SQLITE_STATIC);
}

void Statement::bind_bytes(int parameter, std::string_view bytes) {
  sqlite3_bind_blob(statement_, parameter, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
}

int Statement::run() {
  const int code = sqlite3_step(statement_);
  sqlite3_reset(statement_);
  return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

bool Statement::next(int& code) {
  code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    code = SQLITE_OK;
    return true;
  }
  if (code == SQLITE_DONE) code = SQLITE_OK;
  return false;
}

void Statement::reset() { sqlite3_reset(statement_); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

namespace {
// A file name as a URI, because some parameters exist only in URIs.
std::string immutable_uri(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}
}  // namespace

namespace {

// Nothing that a file contains may run: no views, no triggers, no functions of its schema. Values and statements stay
// within what any trace needs.
void distrust_file(sqlite3* database) {
  constexpr int kLongestValue = 16 << 20;  // bytes; a command line has at most 2 MiB
  for (const auto& [option, value] : {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1),
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
  for (const auto& [limit, value] : {std::pair(SQLITE_LIMIT_LENGTH, kLongestValue),
                                     {SQLITE_LIMIT_ATTACHED, 1},  // VACUUM attaches a file of its own
                                     {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                     {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100}}) {
    sqlite3_limit(database, limit, value);
  }
}

}  // namespace

int Database::open(const std::string& path, OpenMode mode) {
  // SQLite counts every allocation under a lock, which takes a fifth of the time of a row, unless configured otherwise
  // before its first use.
  [[maybe_unused]] static const int kUncounted = [] {
    const int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    guard_companions();
    guard_system_calls();
    return code;
  }();
  close();
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::memory:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
      break;
    case OpenMode::create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case OpenMode::read_write:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case OpenMode::read_only:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case OpenMode::immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      break;
  }
  // A name with a leading "file:" or "-" is a plain file name here.
  const std::string plain = path.starts_with('/') ? path : "./" + path;
  const std::string name = mode == OpenMode::immutable ? immutable_uri(plain) : plain;
  const int code = sqlite3_open_v2(name.c_str(), &database_, flags, nullptr);
  if (code == SQLITE_OK) distrust_file(database_);
  return code;
}

void Database::leave_log() {
  if (database_ != nullptr) sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Database::close() {
  sqlite3_close_v2(database_);
  database_ = nullptr;
}

int Database::execute(const char* sql) { return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr); }

Statement Database::prepare(std::string_view sql, int& code, bool persistent) {
  sqlite3_stmt* statement = nullptr;
  const unsigned flags = persistent ? SQLITE_PREPARE_PERSISTENT : 0;
  code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), flags, &statement, nullptr);
  return Statement(statement);
}

std::int64_t Values::integer(int column) const { return sqlite3_value_int64(values_[column]); }

bool Values::is_null(int column) const { return sqlite3_value_type(values_[column]) == SQLITE_NULL; }

std::string_view Values::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(values_[column]));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_value_bytes(values_[column]))};
}

namespace {

// The receiver of a scan's rows.
struct Showing {
  void (*show)(void*, const Values&);
  void* to;
};

// An SQL function that passes a row on and leaves the result empty. Views in a file may not call it.
void show_row(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& showing = *static_cast<const Showing*>(sqlite3_user_data(context));
  try {
    showing.show(showing.to, Values(values));
    sqlite3_result_int(context, 0);
  } catch (...) {  // out of memory; exceptions may not pass through SQLite
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

int Database::scan(std::string_view select, std::int64_t after, void (*show)(void*, const Values&), void* to) {
  Showing showing{show, to};
  int code = sqlite3_create_function_v2(database_, "show_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &showing, show_row,
                                        nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  constexpr std::string_view kSelect = "SELECT ";
  const std::size_t from = select.find(" FROM "), order = select.rfind(" ORDER BY ");
  std::string sql = "SELECT 1";
  sql.append(select.substr(from, order - from)).append(" AND show_row(");
  sql.append(select.substr(kSelect.size(), from - kSelect.size())).append(")").append(select.substr(order));
  Statement statement = prepare(sql, code);
  if (code == SQLITE_OK) statement.bind(1, after);
  while (code == SQLITE_OK && statement.next(code)) {
  }
  return code;
}

namespace {

void call_function(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& function = *static_cast<const Database::Function*>(sqlite3_user_data(context));
  try {
    if (const std::optional<std::int64_t> result = function(Values(values))) {
      sqlite3_result_int64(context, *result);
    } else {
      sqlite3_result_null(context);
    }
  } catch (...) {  // out of memory; exceptions may not pass through SQLite
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

int Database::provide(const char* name, int arguments, Function function) {
  if (!function) {
    return sqlite3_create_function_v2(database_, name, arguments, SQLITE_UTF8, nullptr, nullptr, nullptr, nullptr,
                                      nullptr);
  }
  // SQLite deletes the function, also when this fails.
  return sqlite3_create_function_v2(database_, name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                    new Function(std::move(function)), call_function, nullptr, nullptr,
                                    [](void* owned) { delete static_cast<Function*>(owned); });
}

int Database::provide(const RowBatch& rows) { return make_row_batch(database_, rows); }

std::int64_t Database::integer(std::string_view sql, std::int64_t otherwise) {
  int code = 0;
  Statement statement = prepare(sql, code);
  return statement && statement.next(code) ? statement.integer(0) : otherwise;
}

std::string Database::text(std::string_view sql) {
  int code = 0;
  Statement statement = prepare(sql, code);
  return statement && statement.next(code) ? std::string(statement.text(0)) : std::string();
}

std::string Database::bytes() {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(database_, "main", &size, 0);
  std::string copy(reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return copy;
}

std::int64_t Database::changes() const { return sqlite3_changes64(database_); }

bool Database::in_transaction() const { return database_ != nullptr && sqlite3_get_autocommit(database_) == 0; }

void Database::set_watch(std::function<bool()> goes_on) {
  constexpr int kStepsPerCall = 100'000;  // of SQLite's virtual machine: a millisecond or two
  if (database_ == nullptr) return;
  if (!goes_on) {
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    watch_.reset();
    return;
  }
  watch_ = std::make_unique<std::function<bool()>>(std::move(goes_on));
  const auto ask = [](void* watch) { return (*static_cast<std::function<bool()>*>(watch))() ? 0 : 1; };
  sqlite3_progress_handler(database_, kStepsPerCall, ask, watch_.get());
}

void Database::set_busy_timeout(int milliseconds) {
  if (database_ != nullptr) sqlite3_busy_timeout(database_, milliseconds);
}

Fault Database::fault() const {
  return database_ == nullptr ? Fault::cannot_open : fault_of(sqlite3_extended_errcode(database_));
}

// SQLite's message about a damaged file may quote any bytes of the file.
std::string Database::message() const {
  return database_ == nullptr ? "it cannot be opened again" : valid_utf8(sqlite3_errmsg(database_));
}

}  // namespace wicprof::store
