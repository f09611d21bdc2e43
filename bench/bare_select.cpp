#include "bench/bare_select.h"

#include <sqlite3.h>

namespace wicprof::bench {

Result<std::uint64_t> bare_select(const std::string& path) {
  sqlite3* database = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  std::uint64_t rows = 0;
  std::int64_t sum = 0;
  for (const char* table : {"wait", "signal", "call", "kernel", "copy", "host_wait"}) {
    const std::string sql = std::string("SELECT * FROM ") + table + " ORDER BY id";
    sqlite3_stmt* select = nullptr;
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(database, sql.c_str(), -1, &select, nullptr);
    if (code != SQLITE_OK) break;
    const int columns = sqlite3_column_count(select);
    while ((code = sqlite3_step(select)) == SQLITE_ROW) {
      ++rows;
      for (int c = 0; c < columns; ++c) sum ^= sqlite3_column_int64(select, c);
    }
    sqlite3_finalize(select);
    if (code == SQLITE_DONE) code = SQLITE_OK;
  }
  const std::string reason = sqlite3_errmsg(database);
  sqlite3_close(database);
  volatile std::int64_t used = sum;  // else the compiler may leave out what is read
  static_cast<void>(used);
  if (code != SQLITE_OK) return failed(path + ": " + reason);
  return rows;
}

}  // namespace wicprof::bench
