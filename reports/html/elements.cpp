#include "reports/html/elements.h"

#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::reports::html {

std::string text_of(std::string_view text) { return escape_html(shorten(one_line(text), 4 * kNameWidth)); }
std::string name_of(std::string_view name) {
  return "<code>" + escape_html(shorten(one_line(name), kNameWidth)) + "</code>";
}

Cell duration(TimeNs ns) { return {format_duration(ns), static_cast<double>(ns)}; }
Cell duration(const std::optional<TimeNs>& ns) { return ns ? duration(*ns) : Cell("-"); }
Cell count(std::uint64_t number) { return {format_count(number), static_cast<double>(number)}; }
Cell number(double value) { return {format_number(value), value}; }
Cell number(const std::optional<double>& value) { return value ? number(*value) : Cell("-"); }
Cell percent(double share) { return {text_of(format_percent(share)), share}; }
Cell percent(const std::optional<double>& share) { return share ? percent(*share) : Cell("-"); }

Table::Table(std::vector<std::string> header) {
  html_ = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : header) {
    const bool is_number = cell.starts_with('>');
    numbers_.push_back(is_number);
    names_.push_back(is_number ? cell.substr(1) : cell);
    html_ += fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", names_.back());
  }
  html_ += "</tr></thead><tbody>\n";
}

void Table::add(const std::vector<Cell>& cells, std::string_view id) {
  ++rows_;
  add_row(cells, id.empty() ? std::string() : fmt::format(" id=\"{}\"", id));
}

void Table::add_part(const std::vector<Cell>& cells) { add_row(cells, " class=\"sub\""); }

void Table::add_row(const std::vector<Cell>& cells, const std::string& attributes) {
  html_ += "<tr" + attributes + ">";
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
  return fmt::format("wic-prof analyze {}{}{}", shell_word(model.name), options.empty() ? "" : " ", options);
}

}  // namespace wicprof::reports::html
