#include "gui/view/first_words.h"

#include <algorithm>

#include "protocol/shell_words.h"

namespace wicprof::gui {

FirstWords first_words(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                       const analyzer::Comparison& comparison, const std::string& path) {
  FirstWords words;
  words.verdict = reports::trace_verdict(model, analysis, comparison.segments.size() > 1 ? &comparison : nullptr);
  if (words.verdict.command.empty()) words.verdict.command = "wic-prof analyze --verbose " + shell_word(path);
  for (std::size_t i = 0; i < std::min(analysis.findings.size(), FirstWords::kMostFindings); ++i)
    words.worst.push_back(i);
  return words;
}

}  // namespace wicprof::gui
