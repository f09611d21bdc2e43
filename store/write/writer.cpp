#include "store/write/writer.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "store/format/trace_file.h"
#include "store/write/lock_holder.h"
#include "store/write/nccl_match.h"
#include "store/write/signal_match.h"

namespace wicprof::store {

namespace {
constexpr int kBusyMilliseconds = 200;        // then it is asked who holds the lock
constexpr int kReadersMilliseconds = 5000;    // readers hold a trace at most for one list
constexpr TimeNs kLockTimeout = 5 * kSecond;  // without anybody who says more
constexpr int kProtocol = 15;                 // SQLITE_PROTOCOL: what SQLite returns once it has waited by itself
constexpr int kMostReopened = 3;              // per transaction
}  // namespace

Result<Writer> Writer::open(const std::string& path, bool overwrite, Patience patience) {
  NewTrace made(path);
  Writer writer;
  writer.patience_ = std::move(patience);
  Result<Database> database = create_trace(path, overwrite, writer.lock_, create_summary_tables_sql());
  if (!database) return database.error();
  made.made();
  writer.database_ = std::move(*database);
  writer.database_.set_busy_timeout(kBusyMilliseconds);
  writer.indexes_lost_ = lost_indexes();
  writer.place_ = TracePlace(path, writer.lock_.file());
  if (writer.prepare() != 0) {
    return unavailable("cannot write to the trace " + path + ": " + writer.message() + "; write it elsewhere with -o");
  }
  made.keep();
  return writer;
}

int Writer::prepare() {
  int code = 0, failed = 0;
  batch_->rows = 0;
  const auto make = [&](Statement& statement, const std::string& sql) {
    statement = database_.prepare(sql, code, true);
    if (code != 0) failed = code;
  };
  if (const int provided = database_.provide(*batch_); provided != 0) return provided;
  for_each_table<EventTables>([&]<class Table>(Type<Table>) {
    constexpr std::size_t kTable = Index<Table>::value;
    constexpr bool kMany = !has_own_id<Table>();
    Insert& insert = inserts_[kTable];
    make(insert.statement, kMany ? insert_batch_sql<Table>() : insert_sql<Table>());
    insert.columns = written_columns<Table>();
    insert.many = kMany;
    waiting_[kTable].values.resize((kMany ? kRowsAtOnce : 1) * insert.columns);
  });
  make(begin_, "BEGIN IMMEDIATE");
  make(commit_, "COMMIT");
  make(roll_back_, "ROLLBACK");
  make(insert_string_, "INSERT INTO string (id, value) VALUES (?, ?)");
  make(remove_string_, "DELETE FROM string WHERE id = ?");
  make(put_meta_, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  make(put_stat_,
       "INSERT INTO stat (id, name_id, detail_id, severity, value) VALUES (?, ?, ?, ?, ?) "
       "ON CONFLICT (id) DO UPDATE SET name_id = excluded.name_id, detail_id = excluded.detail_id, value = "
       "excluded.value");
  make(put_clock_error_, "UPDATE device SET clock_error_ns = ? WHERE id = ?");
  make(put_sass_,
       "INSERT INTO sass (module, symbol_id, pc_offset, text_id, target_offset, file_id, line) "
       "VALUES (?, ?, ?, ?, ?, ?, ?)");
  return failed;
}

void Writer::set_log_bytes(std::uint64_t bytes) {
  log_bytes_ = bytes;
  const std::int64_t page = std::max<std::int64_t>(database_.integer("PRAGMA page_size", 4096), 512);
  const std::int64_t pages = std::max<std::int64_t>(static_cast<std::int64_t>(bytes) / page, 16);
  database_.integer("PRAGMA wal_autocheckpoint = " + std::to_string(pages));
}

void Writer::set_max_bytes(std::uint64_t bytes) {
  max_bytes_ = bytes;
  const std::int64_t page = std::max<std::int64_t>(database_.integer("PRAGMA page_size", 4096), 512);
  constexpr std::int64_t kMaxPages = 4294967294;  // SQLite's own limit
  const std::int64_t pages = bytes == 0 ? kMaxPages : static_cast<std::int64_t>(bytes) / page;
  database_.integer("PRAGMA max_page_count = " + std::to_string(pages));
}

int Writer::begin() {
  if (open_) return 0;
  const int code = begin_patiently();
  open_ = code == 0;
  return code;
}

// Waits for other processes. A lock that nobody else holds is one that the system did not give back: a new connection
// has none, and shares the log's index with others again.
int Writer::begin_patiently() {
  if (hopeless_ != 0) return hopeless_;
  const TimeNs since = now_ns();
  for (int reopened = 0;;) {
    const int code = lost_index() ? kLostIndex : begin_.run();
    const Fault fault = code == kLostIndex ? Fault::input_output : fault_of(code);
    holder_.clear();
    if (fault != Fault::busy && fault != Fault::input_output) return code;
    if (fault == Fault::busy) holder_ = lock_holder(place_.path(), LockKind::writers);
    if (holder_.empty() && reopened < kMostReopened) {
      ++reopened;
      if (const int failed = reopen(); failed != 0) return failed;
      continue;
    }
    if (fault != Fault::busy || code == kProtocol) return hopeless_ = code;
    if (holder_.empty()) holder_ = "another process";
    const TimeNs waited = now_ns() - since;
    if (!(patience_ ? patience_(holder_, waited) : waited < kLockTimeout)) return code;
  }
}

int Writer::restart_without_log() {
  leave_log();
  close_connection();
  place_.remove_log_names();
  place_ = TracePlace(place_.path(), lock_.file());
  return reopen();
}

// A new connection to the same file, without a transaction.
int Writer::reopen() {
  constexpr int kCannotOpen = 14;  // SQLITE_CANTOPEN
  if (place_.look() != Place::there) return kCannotOpen;
  leave_log();
  close_connection();
  int code = database_.open(place_.path(), OpenMode::read_write);
  database_.set_busy_timeout(kBusyMilliseconds);
  indexes_lost_ = lost_indexes();
  if (code == 0) code = database_.execute("PRAGMA synchronous = OFF");
  if (code == 0) code = prepare();
  if (code != 0) return code;
  set_log_bytes(log_bytes_);
  set_max_bytes(max_bytes_);
  place_ = TracePlace(place_.path(), lock_.file());
  return 0;
}

int Writer::write_waiting(std::size_t table) {
  Waiting& waiting = waiting_[table];
  if (waiting.rows == 0) return 0;
  Insert& insert = inserts_[table];
  if (insert.many) {
    *batch_ = {waiting.values.data(), insert.columns, waiting.rows};
  } else {
    for (std::size_t i = 0; i < insert.columns; ++i)
      bind_value(insert.statement, static_cast<int>(i) + 1, waiting.values[i]);
  }
  waiting.rows = 0;
  return insert.statement.run();
}

int Writer::write_all_waiting() {
  for (std::size_t i = 0; i < kTables; ++i) {
    if (const int code = write_waiting(i); code != 0) return code;
  }
  return 0;
}

int Writer::insert_string(std::int64_t id, std::string_view text) {
  if (const int code = begin(); code != 0) return code;
  insert_string_.bind(1, id);
  insert_string_.bind(2, text);
  return insert_string_.run();
}

int Writer::remove_texts(const std::function<bool(std::int64_t id)>& unused, std::size_t& kept_bytes) {
  if (const int code = begin(); code != 0) return code;
  std::vector<std::int64_t> ids;
  int code = 0;
  Statement all = database_.prepare("SELECT id, length(value) FROM string", code);
  while (code == 0 && all.next(code)) {
    if (unused(all.integer(0))) {
      ids.push_back(all.integer(0));
    } else {
      kept_bytes += static_cast<std::size_t>(all.integer(1));
    }
  }
  for (std::size_t i = 0; i < ids.size() && code == 0; ++i) {
    remove_string_.bind(1, ids[i]);
    code = remove_string_.run();
  }
  return code;
}

int Writer::put_meta(const std::string& key, const std::string& value) {
  if (const int code = begin(); code != 0) return code;
  put_meta_.bind(1, std::string_view(key));
  put_meta_.bind(2, std::string_view(value));
  return put_meta_.run();
}

int Writer::put_stat(std::int64_t id, std::int64_t name_id, std::int64_t detail_id, std::int64_t severity,
                     std::int64_t value) {
  if (const int code = begin(); code != 0) return code;
  put_stat_.bind(1, id);
  put_stat_.bind(2, name_id);
  bind_value(put_stat_, 3, detail_id == 0 ? kNull : number(detail_id));
  put_stat_.bind(4, severity);
  put_stat_.bind(5, value);
  return put_stat_.run();
}

int Writer::put_clock_error(DeviceId device, TimeNs error) {
  if (const int code = begin(); code != 0) return code;
  put_clock_error_.bind(1, error);
  put_clock_error_.bind(2, std::int64_t{device});
  return put_clock_error_.run();
}

int Writer::put_sass(const SassValues& row) {
  if (const int code = begin(); code != 0) return code;
  put_sass_.bind(1, row.module);
  put_sass_.bind(2, row.symbol);
  put_sass_.bind(3, row.offset);
  put_sass_.bind(4, row.text);
  bind_value(put_sass_, 5, row.target);
  bind_value(put_sass_, 6, row.file);
  bind_value(put_sass_, 7, row.line);
  return put_sass_.run();
}

int Writer::commit() {
  if (!open_) return 0;
  if (const int code = write_all_waiting(); code != 0) return code;
  if (lost_index()) return kLostIndex;
  const int code = commit_.run();
  if (code == 0) open_ = false;
  return code;
}

void Writer::roll_back() {
  // After some failures SQLite has already rolled back.
  if (database_.in_transaction()) roll_back_.run();
  for (Waiting& waiting : waiting_) waiting.rows = 0;
  open_ = false;
}

int Writer::in_transaction(const std::string& sql) {
  int code = begin();
  if (code == 0) code = database_.execute(sql);
  if (code == 0) code = commit();
  if (code != 0) roll_back();
  return code;
}

int Writer::match_waits() {
  int code = begin();
  if (code == 0) code = database_.execute(create_signal_index_sql());
  if (code == 0) code = match_signals(database_);
  if (code == 0) code = match_nccl(database_);
  if (code == 0) code = commit();
  if (code != 0) roll_back();
  return code;
}

int Writer::copy_lasting_rows(const std::string& earlier, std::int64_t& mode) {
  std::string quoted = earlier.starts_with('/') ? "'" : "'./";
  for (const char c : earlier) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  int code = database_.execute("ATTACH " + quoted + "' AS earlier");
  if (code != 0) return code;
  code = in_transaction(copy_lasting_rows_sql());
  mode =
      database_.integer("SELECT new_mode FROM earlier.intervention WHERE site_id IS NULL ORDER BY id DESC LIMIT 1", -1);
  const int detached = database_.execute("DETACH earlier");
  return code != 0 ? code : detached;
}

int Writer::make_summaries(const SummaryWatch& watch) {
  int code = begin();
  if (code == 0) code = summarise(database_, watch);
  if (code == 0) code = commit();
  if (code != 0) roll_back();
  return code;
}

int Writer::put_summaries(Summary& summary, const SummaryWatch& watch) {
  int code = begin();
  if (code == 0) code = summary.write(database_, watch);
  if (code == 0) code = commit();
  if (code != 0) roll_back();
  return code;
}

int Writer::empty_log() {
  const int code = database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  place_.log_was_emptied();
  return code;
}

int Writer::fold() {
  const int code = fold_once();
  if (code == 0 || !lock_holder(place_.path(), LockKind::all).empty() || reopen() != 0) return code;
  return fold_once();
}

int Writer::fold_once() {
  // From here on the trace survives a crash of the machine.
  // Readers go away; a writer was waited for already.
  if (lock_holder(place_.path(), LockKind::writers).empty()) database_.set_busy_timeout(kReadersMilliseconds);
  if (const int code = database_.execute("PRAGMA synchronous = NORMAL"); code != 0) return code;
  if (const int code = empty_log(); code != 0) return code;
  database_.set_busy_timeout(0);  // does not apply where a reader has the trace open
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    const int code = database_.execute("PRAGMA journal_mode = DELETE");
    if (fault_of(code) != Fault::busy || i == kTries) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Writer::close_connection() {
  for (Insert& insert : inserts_) insert.statement = Statement();
  for (Statement* statement : {&begin_, &commit_, &roll_back_, &insert_string_, &remove_string_, &put_meta_, &put_stat_,
                               &put_clock_error_, &put_sass_}) {
    *statement = Statement();
  }
  database_.close();
  open_ = false;
}

void Writer::close() {
  close_connection();
  lock_.release();
}

std::string Writer::message() const { return holder_.empty() ? database_.message() : "locked by " + holder_; }

}  // namespace wicprof::store
