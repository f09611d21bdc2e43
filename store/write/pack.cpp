#include "store/write/pack.h"

#include <zlib.h>

#include <array>
#include <cstdint>

#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "store/format/schema.h"
#include "store/sqlite/sqlite.h"

namespace wicprof::store {

namespace {

/// Digests have few rows in many tables, and every table takes a page.
constexpr const char* kSmallPages = "PRAGMA page_size = 512;";

template <class Number>
Value value_of(const Number& number_of_row) {
  return number(number_of_row);
}
template <class Number>
Value value_of(const std::optional<Number>& known) {
  return known ? number(*known) : kNull;
}

class Packing {
 public:
  int open() {
    const int code = database_.open({}, OpenMode::memory);
    return code != 0 ? code : database_.execute(kSmallPages + ("BEGIN;" + create_tables_sql()));
  }

  int put(const PackedRows& rows) {
    int code = 0;
    const auto run = [&](auto&& step) {
      if (code == 0) code = step();
    };
    for_each_table<PackedTables>(
        [&]<class Table>(Type<Table>) { run([&] { return put_rows<Table>(rows.lists.*Table::kRows); }); });
    run([&] { return put_meta(rows.meta); });
    run([&] { return put_stats(rows.stats); });
    run([&] { return put_sums(rows.sums); });
    run([&] { return database_.execute("COMMIT"); });
    return code;
  }

  std::string bytes() { return database_.bytes(); }
  std::string message() const { return database_.message(); }

 private:
  /// Of a column's value in a row; what NULL is read as is written as NULL.
  template <class Column, class Row>
  Value column_value(const Column& column, const Row& row, int& code) {
    if constexpr (Column::kIsText) {
      return text(column::member_of(column.target, row), code);
    } else {
      const Value value = value_of(column::member_of(column.target, row));
      return value.integer == 0 && std::string_view(column.type) == kInteger &&
                     std::is_arithmetic_v<std::remove_cvref_t<decltype(column::member_of(column.target, row))>>
                 ? kNull
                 : value;
    }
  }

  static void bind(Statement& insert, int parameter, const Value& value) {
    if (value.known) {
      insert.bind(parameter, value.integer);
    } else {
      insert.bind_null(parameter);
    }
  }

  template <class Table>
  int put_rows(const RowsOf<Table>& rows) {
    int code = 0;
    Statement insert = database_.prepare(insert_sql<Table>(), code);
    for (const typename Table::Row& row : rows) {
      if (code != 0) return code;
      int parameter = 0;
      if constexpr (!has_own_id<Table>()) bind(insert, ++parameter, number(row.process));
      Table::kColumns.for_each([&](const auto& column) { bind(insert, ++parameter, column_value(column, row, code)); });
      if (code == 0) code = insert.run();
    }
    return code;
  }

  int put_meta(const std::map<std::string, std::string>& meta) {
    int code = 0;
    Statement insert = database_.prepare("INSERT INTO meta (key, value) VALUES (?, ?)", code);
    for (const auto& [key, value] : meta) {
      if (code != 0) return code;
      insert.bind(1, std::string_view(key));
      insert.bind(2, std::string_view(value));
      code = insert.run();
    }
    return code;
  }

  int put_stats(const std::vector<StatRow>& stats) {
    return put_numbers(
        "INSERT INTO stat (name_id, detail_id, severity, value) VALUES (?, ?, ?, ?)", stats,
        [&](const StatRow& row, int& code) {
          return std::array{text(row.name, code), text(row.detail, code), number(row.severity), number(row.value)};
        });
  }

  int put_sums(const std::vector<DigestSumRow>& sums) {
    return put_numbers(
        "INSERT INTO digest_sum (process_id, sum_of, detail, name_id, row_count, begin_ns, end_ns, total_ns, "
        "longest_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        sums, [&](const DigestSumRow& row, int& code) {
          return std::array{number(row.process),  number(row.of),    number(row.detail),
                            text(row.name, code), number(row.rows),  number(row.begin),
                            number(row.end),      number(row.total), number(row.longest)};
        });
  }

  template <class Rows, class Values>
  int put_numbers(std::string_view sql, const Rows& rows, Values&& values_of) {
    int code = 0;
    Statement insert = database_.prepare(sql, code);
    for (const auto& row : rows) {
      if (code != 0) return code;
      int parameter = 0;
      for (const Value& value : values_of(row, code)) bind(insert, ++parameter, value);
      if (code == 0) code = insert.run();
    }
    return code;
  }

  /// The number of the text in `string`, which gets a row for a new one.
  Value text(std::string_view text, int& code) {
    if (text.empty()) return kNull;
    const auto [known, added] = texts_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()) + 1);
    if (added && code == 0) {
      Statement insert = database_.prepare("INSERT INTO string (id, value) VALUES (?, ?)", code);
      if (code == 0) {
        insert.bind(1, known->second);
        insert.bind(2, text);
        code = insert.run();
      }
    }
    return number(known->second);
  }

  Database database_;
  std::unordered_map<std::string, std::int64_t> texts_;
};

/// Empty without memory.
std::string gzipped(const std::string& bytes) {
  constexpr int kGzip = 16;  // added to the window's bits
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return {};
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

Result<std::string> pack(const PackedRows& rows) {
  Packing packing;
  int code = packing.open();
  if (code == 0) code = packing.put(rows);
  std::string packed;
  if (code == 0) packed = gzipped(packing.bytes());
  if (!packed.empty()) return packed;
  return unavailable("cannot make the digest: " + (code != 0 ? packing.message() : std::string("out of memory")) +
                     "; free some memory");
}

}  // namespace wicprof::store
