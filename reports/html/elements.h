// Elements of the HTML report. Every text from a trace must pass through text_of() or name_of(), which escape it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/table.h"

namespace wicprof::reports::html {

// Limits on rows and characters keep a report readable and small.
inline constexpr std::size_t kMaxListedSites = 100;
inline constexpr std::size_t kMaxListedRows = 50;
inline constexpr std::size_t kMaxListedSegments = 40;
inline constexpr std::size_t kNameWidth = 200;

std::string text_of(std::string_view text);
/// The same, in a <code> element.
std::string name_of(std::string_view name);

/// A table; empty without rows. A click on a column's head sorts the rows (script/tables.js).
std::string table_html(const Table& table);

/// A cell of a MarkupTable: its HTML and, for a number, the value to sort its column by.
struct Markup {
  std::string html;
  std::optional<double> sort_by = {};
};

/// A table whose cells are more than texts.
class MarkupTable {
 public:
  /// A leading '>' marks a column of numbers.
  explicit MarkupTable(std::vector<std::string> header);
  /// `attributes` of the row begin with a space.
  void add(const std::vector<Markup>& cells, std::string_view attributes = {});
  std::string str() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::string html_;
  std::vector<std::string> names_;  // of columns: on a phone, where a row is a card, each cell shows its own
  std::vector<bool> numbers_;
};

/// A part of the page. The contents link to `id`; `command` gives the same answer on the command line.
std::string section(std::string_view id, std::string_view title, std::string_view body, std::string_view command = {});
std::string and_more(std::size_t all, std::size_t shown, std::string_view noun);
/// "improvement" as a badge; without a colour where nothing is good or bad.
std::string verdict_badge(Verdict verdict);
/// Small and faint; the text may come from a trace.
std::string remark(std::string_view text);
/// A command to copy.
std::string command_line(std::string_view command);

/// "wic-prof analyze hot.wicprof", quoted for a shell where necessary; empty for more traces than a command names.
std::string analyze_command(const TraceModel& model, std::string_view options = {});

}  // namespace wicprof::reports::html
