// Elements of the HTML report. Every text from a trace must pass through text_of() or name_of(), which escape it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

// Limits on rows and characters keep a report readable and small.
inline constexpr std::size_t kMaxListedSites = 100;
inline constexpr std::size_t kMaxListedRows = 50;
inline constexpr std::size_t kMaxListedSegments = 40;
inline constexpr std::size_t kNameWidth = 200;

std::string text_of(std::string_view text);
/// The same, in a <code> element.
std::string name_of(std::string_view name);

/// A cell of a table: its HTML and, for a number, the value to sort its column by.
struct Cell {
  Cell(const char* content) : html(content) {}
  Cell(std::string content) : html(std::move(content)) {}
  Cell(std::string content, double value) : html(std::move(content)), sort_by(value) {}

  std::string html;
  std::optional<double> sort_by;
};
Cell duration(TimeNs ns);
Cell duration(const std::optional<TimeNs>& ns);
Cell count(std::uint64_t number);
Cell number(double value);
Cell number(const std::optional<double>& value);
Cell percent(double share);
Cell percent(const std::optional<double>& share);

/// A click on a column's header sorts the rows (script/tables.js).
class Table {
 public:
  /// A leading '>' marks a column of numbers.
  explicit Table(std::vector<std::string> header);
  /// `id` is the target of links within the page.
  void add(const std::vector<Cell>& cells, std::string_view id = {});
  /// Adds a row that belongs to the last one and stays below it.
  void add_part(const std::vector<Cell>& cells);
  bool empty() const { return rows_ == 0; }
  std::string str() const { return html_ + "</tbody></table></div>\n"; }

 private:
  void add_row(const std::vector<Cell>& cells, const std::string& attributes);

  std::string html_;
  std::vector<std::string> names_;  // of columns: on a phone, where a row is a card, each cell shows its own
  std::vector<bool> numbers_;
  std::size_t rows_ = 0;
};

/// A part of the page. The contents link to `id`; `command` gives the same answer on the command line.
std::string section(std::string_view id, std::string_view title, std::string_view body, std::string_view command = {});
std::string and_more(std::size_t all, std::size_t shown, std::string_view noun);
/// Small and faint; the text may come from a trace.
std::string remark(std::string_view text);
/// A command to copy.
std::string command_line(std::string_view command);

/// "wic-prof analyze hot.wicprof", quoted for a shell where necessary.
std::string analyze_command(const TraceModel& model, std::string_view options = {});

}  // namespace wicprof::reports::html
