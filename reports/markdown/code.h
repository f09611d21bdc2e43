// Commands of the program in Markdown.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/words/format.h"

namespace wicprof::reports {

/// As code, so that it can be copied; as text where it has a backtick, which would end the code.
inline std::string markdown_code(std::string_view text) {
  const std::string line = analyzer::one_line(text);
  return line.find('`') == std::string::npos ? "`" + line + "`" : analyzer::escape_markdown(line);
}

}  // namespace wicprof::reports
