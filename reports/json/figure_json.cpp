#include "reports/json/figure_json.h"

#include "reports/parts/json.h"

namespace wicprof::reports {
namespace {

Json cell_value(const FigureCell& cell) {
  if (cell.is_text) return cell.text;
  return cell.is_number ? Json(cell.number) : Json(nullptr);
}

}  // namespace

std::string figure_json(const Figure& figure) {
  Json value = {{"figure", figure.number},   {"title", figure.title},
                {"formula", figure.formula}, {"missing", figure.missing.empty() ? Json(nullptr) : Json(figure.missing)},
                {"columns", figure.columns}, {"rows", Json::array()},
                {"notes", figure.notes}};
  for (const auto& row : figure.rows) {
    Json item = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) item[figure.columns[i]] = cell_value(row[i]);
    value["rows"].push_back(std::move(item));
  }
  return json_document(value);
}

}  // namespace wicprof::reports
