#include "reports/parts/figure_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/figures/list.h"
#include "analyzer/words/format.h"
#include "reports/parts/text_parts.h"

namespace wicprof::analyzer {
namespace {

constexpr std::size_t kCellWidth = 24;

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string cell_text(const FigureCell& cell) {
  if (cell.is_text) return shorten(one_line(cell.text), kCellWidth);
  return cell.is_number ? number_text(cell.number) : "-";
}

/// Quoted where RFC 4180 asks for it. A text that a spreadsheet would take for a formula is kept from that.
std::string csv_text(const std::string& raw) {
  std::string text = one_line(raw);
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(const FigureCell& cell) {
  if (cell.is_text) return csv_text(cell.text);
  return cell.is_number ? number_text(cell.number) : std::string();
}

Json json_cell(const FigureCell& cell) {
  if (cell.is_text) return cell.text;
  return cell.is_number ? Json(cell.number) : Json(nullptr);
}

}  // namespace

Figure make_figure(int number, const FigureInput& input) {
  const FigureInfo* info = figure_by_number(number);
  Figure figure = info->make(input);
  figure.number = number;
  figure.title = info->title;
  return figure;
}

std::string figure_text(const Figure& figure) {
  std::string text = fmt::format("Figure {}: {}\n", figure.number, figure.title);
  text += paragraph(figure.formula);
  if (!figure.missing.empty()) return text + paragraph("could not look: " + one_line(figure.missing));
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
  text += "\n" + table.str(0);
  for (const std::string& note : figure.notes) text += paragraph("note: " + one_line(note));
  return text;
}

std::string figure_csv(const Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.columns.size(); ++i) text += (i == 0 ? "" : ",") + csv_text(figure.columns[i]);
  text += "\n";
  for (const auto& row : figure.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(row[i]);
    text += "\n";
  }
  return text;
}

Json figure_value(const Figure& figure) {
  Json value = {{"figure", figure.number},   {"title", figure.title},
                {"formula", figure.formula}, {"missing", figure.missing.empty() ? Json(nullptr) : Json(figure.missing)},
                {"columns", figure.columns}, {"rows", Json::array()},
                {"notes", figure.notes}};
  for (const auto& row : figure.rows) {
    Json item = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) item[figure.columns[i]] = json_cell(row[i]);
    value["rows"].push_back(std::move(item));
  }
  return value;
}

std::string figure_json(const Figure& figure) { return document(figure_value(figure)); }

}  // namespace wicprof::analyzer
