#include "reports/text/why_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/words/format.h"

namespace wicprof::reports {

std::string why_text(const Why& why, const std::vector<std::string>& traces, bool verbose, const Screen& screen) {
  std::string text;
  if (!verbose) text += paragraph(screen, why.paragraph(), 0);
  for (const WhySentence& sentence : why.sentences) {
    if (!verbose) break;
    text += paragraph(screen, sentence.text, 0);
    for (const std::string& row : sentence.backing)
      text += row.starts_with("wic-prof ") ? command_lines(screen, row) : paragraph(screen, row, 4, 2);
  }
  if (!why.command.empty()) text += paragraph(screen, why.command_title + ":") + command_lines(screen, why.command);
  if (!traces.empty())
    text += paragraph(screen,
                      fmt::format("{}: {}", traces.size() == 1 ? "The trace" : "The traces", fmt::join(traces, ", ")));
  return text;
}

}  // namespace wicprof::reports
