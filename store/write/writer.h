// Writes rows to a trace: prepared statements, one open transaction at a time. Independent of what events mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"
#include "store/format/event_tables.h"
#include "store/format/schema.h"
#include "store/format/trace_lock.h"
#include "store/format/trace_place.h"
#include "store/sqlite/row_batch.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/system_calls.h"
#include "store/summaries/level_of_detail.h"

namespace wicprof::store {

/// A row of `sass`; texts by their ids in `string`.
struct SassValues {
  std::int64_t module, symbol, offset, text;
  Value target, file, line;
};

/// Each call returns SQLite's result code, 0 for success. After a failure call roll_back(). SQLite gets rows of events
/// in batches: a failure may belong to an earlier row of the open transaction.
class Writer {
 public:
  /// Called several times a second while another process locks the trace: by whom, and for how long so far. False:
  /// writing fails now.
  using Patience = std::function<bool(const std::string& holder, TimeNs waited)>;

  /// Without `patience`, writing waits five seconds for a lock.
  static Result<Writer> open(const std::string& path, bool overwrite, Patience patience = {});

  /// Size of the log at which SQLite folds it into the file.
  void set_log_bytes(std::uint64_t bytes);
  /// Size limit of the file, 0 = the disk's. Beyond the limit writing fails as on a full disk.
  void set_max_bytes(std::uint64_t bytes);

  /// No code of SQLite: the log's index was cut while the transaction was open. Its rows are lost, later ones are not.
  static constexpr int kLostIndex = -3;
  /// Whether the last failure has that reason, whatever its code.
  bool lost_index() const { return lost_indexes() != indexes_lost_; }

  /// No code of SQLite: the event lacks what its row must have, and is not written. The transaction is unharmed.
  static constexpr int kIncomplete = -2;

  template <class Table>
  int insert(const typename Table::Event& event, const Lookup& lookup) {
    if (const int code = begin(); code != 0) return code;
    constexpr std::size_t kTable = Index<Table>::value;
    Waiting& waiting = waiting_[kTable];
    Value* to = waiting.values.data() + waiting.rows * written_columns<Table>();
    if constexpr (!has_own_id<Table>()) *to++ = process_of(event, lookup);
    constexpr auto kAll = std::make_index_sequence<kColumnCount<Table>>();
    put_columns<Table>(to, event, lookup, kAll);
    if (!is_complete<Table>(to, kAll)) return kIncomplete;
    ++waiting.rows;
    if (!has_own_id<Table>() && waiting.rows < kRowsAtOnce) return 0;
    return write_waiting(kTable);
  }

  int insert_string(std::int64_t id, std::string_view text);
  /// Removes the texts whose ids are `unused`; adds the bytes of the others to `kept_bytes`.
  int remove_texts(const std::function<bool(std::int64_t id)>& unused, std::size_t& kept_bytes);
  /// Passes the id of every text that a row refers to, some of them several times.
  template <class Take>
  int each_used_text(Take&& take) {
    if (const int code = write_all_waiting(); code != 0) return code;
    int code = 0;
    Statement used = database_.prepare(used_texts_sql(), code);
    while (code == 0 && used.next(code)) take(used.integer(0));
    return code;
  }
  int put_meta(const std::string& key, const std::string& value);
  int put_stat(std::int64_t id, std::int64_t name_id, std::int64_t detail_id, std::int64_t severity,
               std::int64_t value);
  int put_clock_error(DeviceId device, TimeNs error);
  int put_sass(const SassValues& row);

  /// For store/write/retention.h. Requires begin().
  int run(const std::string& sql) { return database_.execute(sql); }
  std::int64_t integer(const std::string& sql, std::int64_t otherwise = 0) { return database_.integer(sql, otherwise); }
  /// Runs a DELETE and adds the number of its rows to `removed`.
  int remove(const std::string& sql, std::uint64_t& removed) {
    const int code = database_.execute(sql);
    if (code == 0) removed += static_cast<std::uint64_t>(database_.changes());
    return code;
  }

  /// Opens a transaction unless one is open; every call that writes does this itself.
  int begin();
  int commit();
  void roll_back();

  /// Runs SQL in a separate transaction, which leaves nothing behind on failure.
  int in_transaction(const std::string& sql);

  /// Fills wait.ready_ns from the signals and adds NCCL's rows of `mpi_request`, in a separate transaction, which
  /// leaves nothing behind on failure.
  int match_waits();

  /// For the next segment of a recording, before the first row: copies what still holds from the trace at `earlier`,
  /// which no transaction is open in. `mode`: of the whole program at its end, -1 = as `meta` says.
  int copy_lasting_rows(const std::string& earlier, std::int64_t& mode);

  /// Fills the tables of summaries in a separate transaction, which leaves nothing behind on failure.
  int make_summaries(const SummaryWatch& watch = {});
  /// The same of a trace that has been read already.
  int put_summaries(Summary& summary, const SummaryWatch& watch = {});
  /// As Database::set_watch().
  void set_watch(std::function<bool()> goes_on) { database_.set_watch(std::move(goes_on)); }

  std::uint64_t file_bytes() { return bytes_of(database_.integer("PRAGMA page_count")); }
  /// The same without the pages that removed rows have left.
  std::uint64_t used_bytes() {
    return bytes_of(database_.integer("PRAGMA page_count") - database_.integer("PRAGMA freelist_count"));
  }

  /// Shrinks a file that is mostly free pages to the size of its rows. Requires that no transaction is open. On failure
  /// the file keeps its size.
  void give_free_pages_back() {
    const std::int64_t pages = database_.integer("PRAGMA page_count"),
                       free = database_.integer("PRAGMA freelist_count");
    if (free > pages / 2) database_.execute("VACUUM");
  }

  /// Where the trace is, which look() of it learns.
  TracePlace& place() { return place_; }

  /// Folds the log into the file and frees the log's space. Requires that no transaction is open.
  int empty_log();
  /// Does the same and leaves WAL mode, so that the trace is one file. Requires that no transaction is open.
  int fold();
  /// Goes on with the file as it was when its log was last folded, for a log that others cut. No transaction may be
  /// open.
  int restart_without_log();
  /// From now on close() leaves the log as it is.
  void leave_log() { database_.leave_log(); }
  void close();

  /// Of the lock that ended the last wait; empty: no wait ended so.
  const std::string& holder() const { return holder_; }
  /// SQLite's message for the last failure; of a lock: who holds it.
  std::string message() const;
  Fault fault() const { return holder_.empty() ? database_.fault() : Fault::busy; }

 private:
  std::uint64_t bytes_of(std::int64_t pages) {
    return static_cast<std::uint64_t>(pages * database_.integer("PRAGMA page_size"));
  }
  template <class Table, class Tables = EventTables>
  struct Index;
  template <class Table, class... Rest>
  struct Index<Table, std::tuple<Table, Rest...>> : std::integral_constant<std::size_t, 0> {};
  template <class Table, class First, class... Rest>
  struct Index<Table, std::tuple<First, Rest...>>
      : std::integral_constant<std::size_t, 1 + Index<Table, std::tuple<Rest...>>::value> {};

  static constexpr std::size_t kTables = std::tuple_size_v<EventTables>;
  static constexpr std::size_t kRowsAtOnce = 256;

  template <class Table, std::size_t... I>
  static void put_columns(Value* to, const typename Table::Event& event, const Lookup& lookup,
                          std::index_sequence<I...>) {
    ((to[I] = column_at<I>(Table::kColumns).write(event, lookup)), ...);
  }
  template <class Table, std::size_t I>
  static constexpr bool kMayBeNull = std::string_view(column_at<I>(Table::kColumns).type) == std::string_view(kInteger);
  template <class Table, std::size_t... I>
  static bool is_complete(const Value* row, std::index_sequence<I...>) {
    return ((row[I].known || kMayBeNull<Table, I>)&&...);
  }
  static void bind_value(Statement& statement, int parameter, Value value) {
    if (value.known) {
      statement.bind(parameter, value.integer);
    } else {
      statement.bind_null(parameter);
    }
  }

  int prepare();
  int reopen();
  int fold_once();
  void close_connection();
  int begin_patiently();
  int write_waiting(std::size_t table);
  int write_all_waiting();

  std::unique_ptr<RowBatch> batch_ = std::make_unique<RowBatch>();  // at a fixed address; outlives the database
  TraceLock lock_;                                                  // outlives the database
  TracePlace place_;
  Patience patience_;
  int hopeless_ = 0;           // the failure of the last new connection: each further one could take as long
  std::string holder_;         // of the lock that ended the last wait
  unsigned indexes_lost_ = 0;  // when the database was opened
  std::uint64_t log_bytes_ = 0, max_bytes_ = 0;
  Database database_;
  struct Insert {
    Statement statement;
    std::size_t columns = 0;
    bool many = false;  // reads a batch of rows; otherwise one row from parameters
  };
  std::array<Insert, kTables> inserts_;
  struct Waiting {
    std::vector<Value> values;  // capacity: the rows of one batch
    std::size_t rows = 0;
  };
  std::array<Waiting, kTables> waiting_;  // rows of the open transaction that are not yet in SQLite
  Statement begin_, commit_, roll_back_, insert_string_, remove_string_, put_meta_, put_stat_, put_clock_error_,
      put_sass_;
  bool open_ = false;  // a transaction
};

}  // namespace wicprof::store
