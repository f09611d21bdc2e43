// A table that every format renders: columns, and rows of cells. A column is one line in the list of its table: its
// head, its alignment, and what the cell of a row shows.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "analyzer/words/format.h"
#include "protocol/time.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/columns.h"

namespace wicprof::reports {

/// Formats escape the texts.
struct Cell {
  Cell(std::string shown = {}) : text(std::move(shown)) {}
  Cell(std::string_view shown) : text(shown) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown, double number) : text(std::move(shown)), value(number) {}

  std::string text;
  std::optional<double> value;          ///< of a number, to sort by
  bool code = false;                    ///< a name of the program
  std::string remark;                   ///< in small print, where the format has it
  std::optional<Verdict> verdict = {};  ///< for its colour, where the format has one
};

namespace cell {

inline Cell name(std::string text) {
  Cell cell(std::move(text));
  cell.code = true;
  return cell;
}
inline Cell duration(TimeNs ns) { return {format_duration(ns), static_cast<double>(ns)}; }
inline Cell count(std::uint64_t number) { return {format_count(number), static_cast<double>(number)}; }
inline Cell number(double value) { return {format_number(value), value}; }
inline Cell percent(double share) { return {format_percent(share), share}; }
inline Cell watts(double watts) { return {fmt::format("{:.1f} W", watts), watts}; }
inline Cell joules(double joules) { return {fmt::format("{:.0f} J", joules), joules}; }
/// Makes the cell of a known value; "-" for an unknown one.
template <class Value, class Make>
Cell known(const std::optional<Value>& value, Make make) {
  return value ? Cell(make(*value)) : Cell("-");
}
inline Cell duration(const std::optional<TimeNs>& ns) {
  return known(ns, [](TimeNs known) { return duration(known); });
}
inline Cell number(const std::optional<double>& value) {
  return known(value, [](double known) { return number(known); });
}
inline Cell watts(const std::optional<double>& watts_or_none) {
  return known(watts_or_none, [](double known) { return watts(known); });
}
/// From nanojoules to kilojoules: with three digits.
inline Cell joules_of_iteration(const std::optional<double>& joules) {
  return known(joules, [](double known) { return Cell(fmt::format("{:.3g} J", known), known); });
}
inline Cell percent(const std::optional<double>& share) {
  return known(share, [](double known) { return percent(known); });
}
/// The mean of `count` times.
inline Cell mean(TimeNs sum, std::uint64_t count) {
  return count > 0 ? duration(sum / static_cast<TimeNs>(count)) : Cell("-");
}

}  // namespace cell

/// Where a column is shown: a screen has less room than a page.
enum class On { everywhere, screen, pages };

struct Table {
  struct Head {
    std::string_view text;
    char alignment;  ///< of TextTable
    On on;
  };
  struct Row {
    std::vector<Cell> cells;
    std::string id = {};  ///< the target of links within a page
    bool part = false;    ///< belongs to the row above
  };

  std::string_view noun;  ///< of what is in a row
  std::vector<Head> heads;
  std::vector<Row> rows;  ///< the first ones
  std::size_t all = 0;    ///< so many rows there are

  /// The columns that are shown there.
  std::vector<std::size_t> columns(On on) const {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (heads[i].on == On::everywhere || heads[i].on == on) shown.push_back(i);
    }
    return shown;
  }
};

template <class Row>
struct Field {
  Head head;
  char alignment;
  std::function<Cell(const Row&)> cell;
  On on = On::everywhere;
};

/// The first `most` of the rows.
template <class Row>
Table table_of(std::string_view noun, const std::vector<Row>& rows, std::size_t most,
               const std::vector<Field<Row>>& fields) {
  Table table{noun, {}, {}, rows.size()};
  for (const Field<Row>& field : fields) table.heads.push_back({field.head.text, field.alignment, field.on});
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    Table::Row& row = table.rows.emplace_back();
    for (const Field<Row>& field : fields) row.cells.push_back(field.cell(rows[i]));
  }
  return table;
}

}  // namespace wicprof::reports
