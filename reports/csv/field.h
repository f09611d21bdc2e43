// A field of a line of comma-separated values.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/words/format.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Quotes the text if it contains a comma, a quote or a line break, as RFC 4180 requires.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// A text of the trace as a field: one line. A leading apostrophe keeps a spreadsheet from evaluating the text as a
/// formula.
inline std::string csv_text(std::string_view text) {
  std::string line = one_line(text);
  const std::size_t first = line.find_first_not_of(' ');  // what was a tab or a carriage return, too
  if (first != std::string::npos && std::string_view("=+-@|").find(line[first]) != std::string_view::npos)
    line.insert(0, "'");
  return csv_field(line);
}

}  // namespace wicprof::reports
