// What all texts on the screen share. Each such text ends with a newline, or is empty if it has nothing to say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/words/format.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// What a text is written to. cli/terminal/screen.h asks the terminal.
struct Screen {
  std::size_t width = 80;  ///< in columns; no line is longer
  bool colour = false;     ///< escape sequences of terminals are wanted

  /// The columns that are left beside an indent.
  std::size_t beside(std::size_t indent) const { return width > indent + 1 ? width - indent : 1; }
};

enum class Ink { good, bad, warn, strong, faint };

/// The words in colour, if the screen has colours. After the text has been wrapped: escape sequences take no columns.
inline std::string inked(const Screen& screen, Ink ink, std::string_view words) {
  static constexpr std::string_view kBegin[] = {"\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1m", "\x1b[2m"};
  if (!screen.colour || words.empty()) return std::string(words);
  return std::string(kBegin[static_cast<std::size_t>(ink)]).append(words).append("\x1b[0m");
}

/// "  and 3 kernels more" below a table that shows `shown` of `all` rows; empty if the table shows all rows.
inline std::string and_more(std::size_t all, std::size_t shown, std::string_view noun) {
  return all > shown ? "  and " + analyzer::count_of(all - shown, noun) + " more\n" : std::string();
}

/// Puts a blank line before a section. An empty section stays empty.
inline std::string section(const std::string& text) { return text.empty() ? text : "\n" + text; }

/// Wraps a text and indents it; lines after the first are indented by `hanging` more.
inline std::string paragraph(const Screen& screen, std::string_view text, std::size_t indent = 2,
                             std::size_t hanging = 0) {
  const std::size_t all = indent + hanging;
  return std::string(indent, ' ') + analyzer::wrap(text, screen.beside(all), all) + "\n";
}

/// A command that can be copied from the screen.
inline std::string command_lines(const Screen& screen, std::string_view command, std::size_t indent = 4) {
  return std::string(indent, ' ') + analyzer::wrap_command(command, screen.beside(indent), indent + 2) + "\n";
}

}  // namespace wicprof::reports
