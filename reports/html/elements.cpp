#include "reports/html/elements.h"

#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports::html {

std::string text_of(std::string_view text) { return escape_html(shorten(one_line(text), 4 * kNameWidth)); }
std::string name_of(std::string_view name) {
  return "<code>" + escape_html(shorten(one_line(name), kNameWidth)) + "</code>";
}

namespace {

Markup markup_of(const Cell& cell) {
  std::string html = cell.code ? name_of(cell.text) : text_of(cell.text);
  if (cell.verdict) html = verdict_badge(*cell.verdict);
  if (!cell.remark.empty()) html += fmt::format("<br><span class=\"faint small\">{}</span>", text_of(cell.remark));
  return {std::move(html), cell.value};
}

}  // namespace

std::string table_html(const Table& table) {
  if (table.rows.empty()) return {};
  const std::vector<std::size_t> columns = table.columns(On::pages);
  std::vector<std::string> heads;
  for (const std::size_t column : columns)
    heads.push_back((table.heads[column].alignment == 'r' ? ">" : "") + std::string(table.heads[column].text));
  MarkupTable markup(heads);
  for (const Table::Row& row : table.rows) {
    std::vector<Markup> cells;
    for (const std::size_t column : columns) cells.push_back(markup_of(row.cells[column]));
    markup.add(cells, row.part         ? " class=\"sub\""  // stays below the row that it is part of
                      : row.id.empty() ? std::string()
                                       : fmt::format(" id=\"{}\"", row.id));
  }
  return markup.str() + and_more(table.all, table.rows.size(), table.noun);
}

std::string verdict_badge(Verdict verdict) {
  std::string_view css;
  if (verdict == Verdict::improvement) css = " good";
  if (verdict == Verdict::regression) css = " bad";
  return fmt::format("<span class=\"badge{}\">{}</span>", css, verdict_name(verdict));
}

MarkupTable::MarkupTable(std::vector<std::string> header) {
  html_ = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : header) {
    const bool is_number = cell.starts_with('>');
    numbers_.push_back(is_number);
    names_.push_back(is_number ? cell.substr(1) : cell);
    html_ += fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", names_.back());
  }
  html_ += "</tr></thead><tbody>\n";
}

void MarkupTable::add(const std::vector<Markup>& cells, std::string_view attributes) {
  html_ += fmt::format("<tr{}>", attributes);
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const char* css = numbers_[column] ? " class=\"n\"" : (column == 0 ? " class=\"name\"" : "");
    const std::string value =
        cells[column].sort_by ? fmt::format(" data-value=\"{:.9g}\"", *cells[column].sort_by) : std::string();
    html_ += fmt::format("<td{} data-label=\"{}\"{}>{}</td>", css, names_[column], value, cells[column].html);
  }
  html_ += "</tr>\n";
}

std::string section(std::string_view id, std::string_view title, std::string_view body, std::string_view command) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}{}</section>\n", id, title, body,
                     command.empty() ? std::string() : command_line(command));
}

std::string and_more(std::size_t all, std::size_t shown, std::string_view noun) {
  return all > shown ? remark(fmt::format("and {} more", count_of(all - shown, noun))) : std::string();
}

std::string remark(std::string_view text) { return fmt::format("<p class=\"faint small\">{}</p>\n", text_of(text)); }

std::string command_line(std::string_view command) {
  return fmt::format("<p class=\"command small\"><code>{}</code></p>\n", escape_html(one_line(command)));
}

std::string analyze_command(const TraceModel& model, std::string_view options) {
  if (model.joined.size() > kNamedTraces) return {};
  return fmt::format("wic-prof analyze {}{}{}", trace_words(model), options.empty() ? "" : " ", options);
}

}  // namespace wicprof::reports::html
