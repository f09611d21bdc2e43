// A field of a line of comma-separated values.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::reports {

/// Quotes the text if it contains a comma, a quote or a line break, as RFC 4180 requires.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace wicprof::reports
