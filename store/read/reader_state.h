// How a reader reads: a whole table or a part, with one thread or two, while the recorder runs or after it has ended.
#pragma once

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
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

inline constexpr RowId kMinRowsForTwoThreads = 100'000;  // from this many rows on, a second thread reads half

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
  template <class RowType, class Take>
  Result<std::vector<RowType>> list(std::string_view select, RowId after, Take&& take) {
    if (!database) {
      if (const int code = connect(path, database); code != 0) return failed(code);
    }
    std::vector<RowType> rows;
    int code = 0;
    const bool by_id = select.find('?') != std::string_view::npos;
    std::string part;
    if (by_id && range && rows_within<RowType>(select, part)) select = part;
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
    return rows;
  }

  /// With `by_id`, only the rows with id > after.
  template <class RowType, class Take>
  static int read(Database& from, std::string_view select, bool by_id, RowId after, std::vector<RowType>& rows,
                  Take& take) {
    if (by_id) {
      Texts texts(from);
      const int code = from.scan(select, after, [&](const Values& values) {
        RowReader row(values, texts);
        take(row, rows.emplace_back());
      });
      return code != 0 ? code : texts.outcome();
    }
    int code = 0;
    Statement statement = from.prepare(select, code);
    while (code == 0 && statement.next(code)) {
      RowReader row(statement);
      take(row, rows.emplace_back());
    }
    return code;
  }

  /// Reads a large table of a finished trace with two threads, each with its own connection. Both write their rows to
  /// the final places, so that no row exists twice.
  template <class RowType, class Take>
  int read_halves(std::string_view select, const Ids& ids, std::vector<RowType>& rows, Take& take) {
    const RowId middle = ids.first + (ids.last - ids.first) / 2;
    const auto lower_slots = static_cast<std::size_t>(middle - ids.first + 1);
    rows.resize(static_cast<std::size_t>(ids.last - ids.first + 1));
    std::size_t lower = 0, upper = 0;
    // Deferred where the system refuses a thread: this one then reads the upper half after the lower one.
    std::future<int> reader = std::async(std::launch::async | std::launch::deferred, [&] {
      try {
        Database other;
        const int opened = connect(path, other);
        if (opened != 0) return opened;
        return fill(other, select, middle, rows.data() + lower_slots, rows.size() - lower_slots, upper, take);
      } catch (...) {  // out of memory: the caller reports it
        return -1;
      }
    });
    const int code = fill(database, up_to(select, middle), ids.first - 1, rows.data(), lower_slots, lower, take);
    const int upper_code = reader.get();
    if (code == 0 && upper_code != 0) {
      // Reads again with this connection, which then has the message of the failure.
      rows.clear();
      return read(database, select, true, 0, rows, take);
    }
    if (lower < lower_slots) {  // else the rows are in place, and a row moved to itself may lose its contents
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(lower_slots);
      std::move(from, from + static_cast<std::ptrdiff_t>(upper), rows.begin() + static_cast<std::ptrdiff_t>(lower));
    }
    rows.resize(lower + upper);
    return code;
  }

  /// `to` has `space` for every id of the range. A damaged file may have an id more than once: those rows are left out.
  template <class RowType, class Take>
  static int fill(Database& from, std::string_view select, RowId after, RowType* to, std::size_t space,
                  std::size_t& count, Take& take) {
    Texts texts(from);
    const int code = from.scan(select, after, [&](const Values& values) {
      if (count == space) return;
      RowReader row(values, texts);
      take(row, to[count++]);
    });
    return code != 0 ? code : texts.outcome();
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

  /// The first and last id of the table that `select` reads, if the table is large and has most ids in between.
  std::optional<Ids> many_ids(std::string_view select) {
    const std::size_t from = select.find(" FROM ") + 6;
    const std::string table(select.substr(from, select.find(' ', from) - from));
    const Ids ids{database.integer("SELECT min(id) FROM " + table),
                  database.integer("SELECT max(id) FROM " + table, -1)};
    if (ids.first < 0 || ids.last - ids.first < kMinRowsForTwoThreads) return std::nullopt;
    const bool dense = database.integer("SELECT count(*) FROM " + table) * 2 > ids.last - ids.first;
    return dense ? std::optional(ids) : std::nullopt;
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
  bool complete = false;
  bool without_log = false;
  std::optional<RowRange> range;
};

}  // namespace wicprof::store
