#include "reports/csv/figure_csv.h"

#include <fmt/format.h>

#include <string_view>

#include "analyzer/words/format.h"
#include "reports/csv/field.h"

namespace wicprof::reports {
namespace {

/// A leading apostrophe keeps a spreadsheet from evaluating the text as a formula.
std::string text_field(const std::string& raw) {
  std::string text = one_line(raw);
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) text.insert(0, "'");
  return csv_field(text);
}

std::string cell_field(const FigureCell& cell) {
  if (cell.is_text) return text_field(cell.text);
  return cell.is_number ? fmt::format("{:.6g}", cell.number) : std::string();
}

}  // namespace

std::string figure_csv(const Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.columns.size(); ++i) text += (i == 0 ? "" : ",") + text_field(figure.columns[i]);
  text += "\n";
  for (const auto& row : figure.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + cell_field(row[i]);
    text += "\n";
  }
  return text;
}

}  // namespace wicprof::reports
