// What all texts on the screen share. Each such text ends with a newline, or is empty if it has nothing to say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/words/format.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// The columns that a text may take.
inline constexpr std::size_t kScreenWidth = 98;

/// "  and 3 kernels more" below a table that shows `shown` of `all` rows; empty if the table shows all rows.
inline std::string and_more(std::size_t all, std::size_t shown, std::string_view noun) {
  return all > shown ? "  and " + analyzer::count_of(all - shown, noun) + " more\n" : std::string();
}

/// Puts a blank line before a section. An empty section stays empty.
inline std::string section(const std::string& text) { return text.empty() ? text : "\n" + text; }

/// Wraps and indents a text.
inline std::string paragraph(std::string_view text, std::size_t indent = 2) {
  return std::string(indent, ' ') + analyzer::wrap(text, kScreenWidth - indent, indent) + "\n";
}

}  // namespace wicprof::reports
