// How a reader reads: as a whole or in part, by one thread or two, and again where the recorder has just ended.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/format/trace_file.h"
#include "store/read/connection.h"
#include "store/read/packed_trace.h"
#include "store/read/reader.h"
#include "store/read/row_reader.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

inline constexpr RowId kWorthTwo = 100'000;  // rows from which a second thread reads half of them

struct Reader::State {
  explicit State(std::string file) : path(std::move(file)) {}

  struct Ids {
    RowId first = 0, last = -1;
  };

  /// Runs `select` (its only parameter, if any, being `after`), and gives each row to `take`.
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

  /// Rows with id > after.
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

  /// A large table of a finished trace, by two threads with a connection each: both write where their rows belong, so
  /// that no row is held twice.
  template <class RowType, class Take>
  int read_halves(std::string_view select, const Ids& ids, std::vector<RowType>& rows, Take& take) {
    const RowId middle = ids.first + (ids.last - ids.first) / 2;
    const auto lower_room = static_cast<std::size_t>(middle - ids.first + 1);
    rows.resize(static_cast<std::size_t>(ids.last - ids.first + 1));
    std::size_t lower = 0, upper = 0;
    int code = 0, upper_code = 0;
    {
      const std::jthread reader([&] {
        try {
          Database other;
          upper_code = connect(path, other);
          if (upper_code == 0) upper_code = fill(other, select, middle, rows.data() + lower_room, upper, take);
        } catch (...) {  // no memory: said by the one that asked
          upper_code = -1;
        }
      });
      code = fill(database, up_to(select, middle), ids.first - 1, rows.data(), lower, take);
    }
    if (code == 0 && upper_code != 0) {
      // The same again by this connection, which then has the words for what is wrong.
      rows.clear();
      return read(database, select, true, 0, rows, take);
    }
    if (lower < lower_room) {  // else they are where they belong, and a row moved to itself may lose what it holds
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(lower_room);
      std::move(from, from + static_cast<std::ptrdiff_t>(upper), rows.begin() + static_cast<std::ptrdiff_t>(lower));
    }
    rows.resize(lower + upper);
    return code;
  }

  /// There is room for every id that can come.
  template <class RowType, class Take>
  static int fill(Database& from, std::string_view select, RowId after, RowType* to, std::size_t& count, Take& take) {
    Texts texts(from);
    const int code = from.scan(select, after, [&](const Values& values) {
      RowReader row(values, texts);
      take(row, to[count++]);
    });
    return code != 0 ? code : texts.outcome();
  }

  /// Every query by id ends with "id > ? ORDER BY id".
  static std::string up_to(std::string_view select, RowId last) {
    return std::string(select).insert(select.find("id > ?") + 6, " AND id <= " + std::to_string(last));
  }

  /// `select` for rows that reach into the range; false where this kind of row does not lie on a lane. What is short
  /// begins at most its length before the range, so that the index on time finds it; what is long is named by its id.
  template <class RowType>
  bool rows_within(std::string_view select, std::string& to) const {
    constexpr std::optional<RowKind> kind = row_kind_of<RowType>();
    if constexpr (!kind) {
      return false;
    } else {
      const LaneTable& table = table_of(*kind);
      const RowRange::Kind& its = range->kinds[static_cast<std::size_t>(*kind)];
      const std::string begin = std::to_string(range->begin), end = std::to_string(range->end);
      std::string ids = std::string("SELECT id FROM ") + table.name + " WHERE " + table.begin +
                        " >= " + std::to_string(range->begin - its.short_ns) + " AND " + table.begin + " < " + end +
                        " AND " + table.end + " >= " + begin;
      for (std::size_t i = 0; i < its.named.size(); ++i)
        ids += (i == 0 ? " UNION VALUES (" : "), (") + std::to_string(its.named[i]);
      if (!its.named.empty()) ids += ")";
      to = select;
      to.insert(to.find("id > ?") + 6, " AND id IN (" + ids + ")");
      return true;
    }
  }

  /// Of the table that `select` reads, if it is large and most ids in between are there.
  std::optional<Ids> many_ids(std::string_view select) {
    const std::size_t from = select.find(" FROM ") + 6;
    const std::string table(select.substr(from, select.find(' ', from) - from));
    const Ids ids{database.integer("SELECT min(id) FROM " + table),
                  database.integer("SELECT max(id) FROM " + table, -1)};
    if (ids.last - ids.first < kWorthTwo) return std::nullopt;
    const bool dense = database.integer("SELECT count(*) FROM " + table) * 2 > ids.last - ids.first;
    return dense ? std::optional(ids) : std::nullopt;
  }

  /// Whether the file has this version of the schema or a newer one. True too where the version cannot be read: reading
  /// the list then reports the error.
  bool has_version(std::int64_t version) {
    if (version <= kOldestReadable) return true;
    if (!database && connect(path, database) != 0) return true;
    const bool has = database.integer("PRAGMA user_version", version) >= version;
    if (!complete) database.close();
    return has;
  }

  Error failed(int code) {
    Error error = cannot_read(path, code, database.message());
    database.close();
    return packed.empty() ? error : said_of(packed, path, std::move(error));
  }

  std::string packed;                     // the file that `path` is a copy of, if so
  std::optional<UnpackedTrace> unpacked;  // before the database, which must be closed first
  std::string path;
  Database database;
  bool complete = false;
  std::optional<RowRange> range;
};

}  // namespace wicprof::store
