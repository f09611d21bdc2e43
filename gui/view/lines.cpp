#include "gui/view/lines.h"

#include <algorithm>

#include "analyzer/words/take_word.h"

namespace wicprof::gui {

std::vector<std::string> lines_of(std::string_view text, float width,
                                  const std::function<float(std::string_view text)>& measure) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    std::string line;
    while (!rest.empty()) {
      const std::string word(analyzer::take_word(rest));
      if (word.empty()) continue;
      const std::string longer = line.empty() ? word : line + ' ' + word;
      if (!line.empty() && measure(longer) > width) {
        lines.push_back(std::move(line));
        line = word;
      } else {
        line = longer;
      }
    }
    lines.push_back(std::move(line));
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace wicprof::gui
