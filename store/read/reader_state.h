// How a reader reads: a whole table or a part, with one thread or two, while the recorder runs or after it has ended.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/format/trace_file.h"
#include "store/read/connection.h"
#include "store/read/packed_trace.h"
#include "store/read/reader.h"
#include "store/read/row_reader.h"
#include "store/read/schema_check.h"
#include "store/read/sort_rows.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

inline constexpr RowId kMinRowsForTwoThreads = 100'000;  // from this many rows on, a second thread reads half

/// Runs `work` on a thread of its own; where the system refuses a thread, when its outcome is asked for. Not a
/// template: std::async compiled per table took a fifth of the time of compiling the reader.
std::future<int> run_aside(const std::function<int()>& work);

struct Reader::State {
  explicit State(std::string file) : path(std::move(file)) {}

  struct Ids {
    RowId first = 0, last = -1;
  };

  /// Error: the file has what no wic-prof writes, and what could make a reader compute without end.
  Result<> check_schema() {
    int code = connect(path, database);
    const std::string foreign = code == 0 ? foreign_schema(database, code) : std::string();
    if (code != 0) return failed(code);
    database.close();
    if (foreign.empty()) return ok();
    return bad_input(path + " is not a trace that wic-prof has written: it has " + foreign +
                     "; copy the original again, or record again");
  }

  /// Runs `select`, whose only parameter, if any, is `after`, and passes each row to `take`.
  template <class Rows, class Take>
  Result<Rows> list(std::string_view select, RowId after, Take&& take) {
    if (!database) {
      if (const int code = connect(path, database); code != 0) return failed(code);
    }
    RowSink<Rows> rows;
    int code = 0;
    const bool by_id = select.find('?') != std::string_view::npos;
    std::string part;
    if (by_id && range && rows_within<typename Rows::value_type>(select, part)) select = part;
    const std::optional<Ids> many = by_id && complete && after == 0 && part.empty() ? many_ids(select) : std::nullopt;
    if (many) {
      code = read_halves(select, *many, rows, take);
    } else {
      code = read(database, select, by_id, after, rows, take);
    }
    if (code != 0) return failed(code);
    if (!complete) {
      database.close();
      if (has_wal_file(path) && !has_wal(path)) fold_abandoned_log(path);
    }
    return rows.take();
  }

  /// With `by_id`, only the rows with id > after.
  template <class Rows, class Take>
  static int read(Database& from, std::string_view select, bool by_id, RowId after, RowSink<Rows>& rows, Take& take) {
    if (by_id) {
      Texts texts(from);
      const int code = from.scan(select, after, [&](const Values& values) {
        RowReader row(values, texts);
        take(row, rows.next());
      });
      return code != 0 ? code : texts.outcome();
    }
    int code = 0;
    Statement statement = from.prepare(select, code);
    while (code == 0 && statement.next(code)) {
      RowReader row(statement);
      take(row, rows.next());
    }
    return code;
  }

  /// Reads a large table of a finished trace with two threads, each with its own connection.
  template <class Rows, class Take>
  int read_halves(std::string_view select, const Ids& ids, RowSink<Rows>& rows, Take& take) {
    // A whole number of blocks of rows, which RowSink::add() then need not copy.
    constexpr auto kBlock = static_cast<RowId>(kBlockRows);
    const RowId middle = ids.first + (ids.last - ids.first) / 2 / kBlock * kBlock - 1;
    RowSink<Rows> upper;
    // Where the system refuses a thread, this one reads the upper half after the lower one.
    std::future<int> reader = run_aside([&] {
      try {
        Database other;
        const int opened = connect(path, other);
        return opened != 0 ? opened : read(other, select, true, middle, upper, take);
      } catch (...) {  // out of memory: the caller reports it
        return -1;
      }
    });
    int code = read(database, up_to(select, middle), true, ids.first - 1, rows, take);
    if (reader.get() == 0) {
      rows.add(std::move(upper));
    } else if (code == 0) {  // reads again with this connection, which then has the message of the failure
      code = read(database, select, true, middle, rows, take);
    }
    return code;
  }

  /// Every query by id ends with "id > ? ORDER BY id".
  static std::string up_to(std::string_view select, RowId last) {
    return std::string(select).insert(select.find("id > ?") + 6, " AND id <= " + std::to_string(last));
  }

  /// `select` for rows that overlap the range; false for rows that no lane shows. A short row begins at most short_ns
  /// before the range, so that the index on time finds it; the range names each long row by id.
  template <class RowType>
  bool rows_within(std::string_view select, std::string& to) const {
    constexpr std::optional<RowKind> kind = row_kind_of<RowType>();
    if constexpr (!kind) {
      return false;
    } else {
      const LaneTable& table = table_of(*kind);
      const RowRange::Kind& part = range->kinds[static_cast<std::size_t>(*kind)];
      const std::string begin = std::to_string(range->begin), end = std::to_string(range->end);
      std::string ids = std::string("SELECT id FROM ") + table.name + " WHERE " + table.begin +
                        " >= " + std::to_string(range->begin - part.short_ns) + " AND " + table.begin + " < " + end +
                        " AND " + table.end + " >= " + begin;
      for (std::size_t i = 0; i < part.named.size(); ++i)
        ids += (i == 0 ? " UNION VALUES (" : "), (") + std::to_string(part.named[i]);
      if (!part.named.empty()) ids += ")";
      to = select;
      to.insert(to.find("id > ?") + 6, " AND id IN (" + ids + ")");
      return true;
    }
  }

  /// The first and last id of the table that `select` reads, if the table is large.
  std::optional<Ids> many_ids(std::string_view select) {
    const std::size_t from = select.find(" FROM ") + 6;
    const std::string table(select.substr(from, select.find(' ', from) - from));
    const Ids ids{database.integer("SELECT min(id) FROM " + table),
                  database.integer("SELECT max(id) FROM " + table, -1)};
    return ids.first < 0 || ids.last - ids.first < kMinRowsForTwoThreads ? std::nullopt : std::optional(ids);
  }

  /// The file's version of the schema. The newest where it cannot be read: reading the list then reports the error.
  std::int64_t version() {
    if (!database && connect(path, database) != 0) {
      database.close();  // else the list would read from a connection that has no file
      return kSchemaVersion;
    }
    const std::int64_t version = database.integer("PRAGMA user_version", kSchemaVersion);
    if (!complete) database.close();
    return version;
  }

  Error failed(int code) {
    Error error = cannot_read(path, code, database.message());
    database.close();
    return packed.empty() ? error : renamed_to(packed, path, std::move(error));
  }

  std::string packed;                     // the file of which `path` is a copy; empty if it is none
  std::optional<UnpackedTrace> unpacked;  // destroyed after the database, which must be closed first
  std::string path;
  Database database;
  std::string digest_of;  // the trace of which this is a digest; empty if it is none
  bool complete = false;
  bool without_log = false;
  std::optional<RowRange> range;
};

}  // namespace wicprof::store
