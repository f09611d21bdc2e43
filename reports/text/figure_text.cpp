#include "reports/text/figure_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string cell_text(const FigureCell& cell) {
  if (cell.is_text) return one_line(cell.text);
  return cell.is_number ? number_text(cell.number) : "-";
}

}  // namespace

std::string figure_text(const Figure& figure, const Screen& screen) {
  std::string text = paragraph(screen, fmt::format("Figure {}: {}", figure.number, figure.title), 0, 2);
  text += paragraph(screen, figure.formula);
  if (!figure.missing.empty()) return text + paragraph(screen, "could not look: " + one_line(figure.missing));
  std::string alignment;
  for (std::size_t i = 0; i < figure.columns.size(); ++i) {
    const bool number =
        std::any_of(figure.rows.begin(), figure.rows.end(), [&](const auto& row) { return row[i].is_number; });
    alignment += number ? 'r' : 'l';
  }
  TextTable table(alignment, figure.columns);
  for (const auto& row : figure.rows) {
    std::vector<std::string> cells;
    for (const FigureCell& cell : row) cells.push_back(cell_text(cell));
    table.add(std::move(cells));
  }
  text += "\n" + table.str(0, screen.width);
  for (const std::string& note : figure.notes) text += paragraph(screen, "note: " + one_line(note));
  return text;
}

}  // namespace wicprof::reports
