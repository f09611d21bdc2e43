#include "reports/csv/figure_csv.h"

#include <fmt/format.h>

#include "reports/csv/field.h"

namespace wicprof::reports {
namespace {

std::string cell_field(const FigureCell& cell) {
  if (cell.is_text) return csv_text(cell.text);
  return cell.is_number ? fmt::format("{:.6g}", cell.number) : std::string();
}

}  // namespace

std::string figure_csv(const Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.columns.size(); ++i) text += (i == 0 ? "" : ",") + csv_text(figure.columns[i]);
  text += "\n";
  for (const auto& row : figure.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + cell_field(row[i]);
    text += "\n";
  }
  return text;
}

}  // namespace wicprof::reports
