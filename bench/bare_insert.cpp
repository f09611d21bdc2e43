#include "bench/bare_insert.h"

#include <sqlite3.h>

#include "store/format/schema.h"
#include "store/format/trace_file.h"

namespace wicprof::store {

Result<> bare_insert(const std::string& path, std::span<const WaitEvent> events, std::size_t batch) {
  {
    // Creates the file; the loop below uses a separate connection.
    TraceLock lock;
    Result<Database> made = create_trace(path, true, lock);
    if (!made) return made.error();
  }
  sqlite3* database = nullptr;
  sqlite3_stmt* insert = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const auto execute = [&](const char* sql) {
    if (code == SQLITE_OK) code = sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
  };
  execute("PRAGMA synchronous = OFF");
  const std::string sql = insert_sql<WaitTable>();
  if (code == SQLITE_OK) {
    code = sqlite3_prepare_v3(database, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &insert, nullptr);
  }
  std::size_t in_batch = 0;
  for (const WaitEvent& event : events) {
    if (in_batch == 0) execute("BEGIN IMMEDIATE");
    if (code != SQLITE_OK) break;
    sqlite3_bind_null(insert, 1);  // the process; unknown to the recorder, too
    sqlite3_bind_int64(insert, 2, event.site);
    sqlite3_bind_int64(insert, 3, event.device);
    sqlite3_bind_int64(insert, 4, event.block);
    sqlite3_bind_int64(insert, 5, event.warp);
    sqlite3_bind_int64(insert, 6, event.sm);
    sqlite3_bind_int64(insert, 7, event.iteration);
    sqlite3_bind_int64(insert, 8, static_cast<sqlite3_int64>(event.arrived_ns));
    sqlite3_bind_null(insert, 9);
    sqlite3_bind_int64(insert, 10, static_cast<sqlite3_int64>(event.resumed_ns));
    sqlite3_bind_int64(insert, 11, event.polls);
    sqlite3_bind_int64(insert, 12, event.strategy);
    sqlite3_bind_int64(insert, 13, static_cast<sqlite3_int64>(event.status));
    sqlite3_bind_int64(insert, 14, event.value);
    if (event.switched_after_ns == 0) {
      sqlite3_bind_null(insert, 15);
    } else {
      sqlite3_bind_int64(insert, 15, static_cast<sqlite3_int64>(event.arrived_ns + event.switched_after_ns));
    }
    sqlite3_bind_null(insert, 16);
    code = sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(database);
    sqlite3_reset(insert);
    if (++in_batch == batch) {
      execute("COMMIT");
      in_batch = 0;
    }
  }
  if (in_batch != 0) execute("COMMIT");
  const std::string reason = sqlite3_errmsg(database);
  sqlite3_finalize(insert);
  sqlite3_close_v2(database);
  if (code != SQLITE_OK) return unavailable("cannot write " + path + ": " + reason + "; free some disk space");
  return ok();
}

}  // namespace wicprof::store
