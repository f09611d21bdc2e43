#include "reports/text/table_text.h"

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"

namespace wicprof::reports {

std::string table_text(const Table& table, const Screen& screen, std::size_t indent, std::vector<std::size_t> columns) {
  if (table.rows.empty()) return {};
  if (columns.empty()) columns = table.columns(On::screen);
  std::string alignment;
  std::vector<std::string> heads;
  for (const std::size_t column : columns) {
    alignment += table.heads[column].alignment;
    heads.emplace_back(table.heads[column].text);
  }
  heads.front().front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heads.front().front())));
  TextTable text(alignment, heads);
  for (const Table::Row& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::size_t column : columns) cells.push_back(one_line(row.cells[column].text));
    text.add(std::move(cells));
  }
  return text.str(indent, screen.width) + and_more(table.all, table.rows.size(), table.noun);
}

}  // namespace wicprof::reports
