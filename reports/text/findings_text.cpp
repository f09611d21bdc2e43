#include "reports/text/findings_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::reports {
namespace {

/// What follows the worst findings has to stay on the screen.
constexpr std::size_t kMostOthers = 12;
constexpr std::size_t kIndent = 4;
constexpr std::string_view kBecause = "because ", kDo = "do      ";

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return Ink::bad;
    case Severity::warning:
      return Ink::warn;
    case Severity::info:
      break;
  }
  return Ink::faint;
}

/// "[warning] hot_word: up to 528 waiters poll one word ...".
std::string head_text(const Finding& finding, const Screen& screen) {
  const std::string mark = fmt::format("[{}]", severity_name(finding.severity));
  const std::string text =
      paragraph(screen, fmt::format("{} {}: {}", mark, finding.rule, one_line(finding.text)), 2, 2);
  return "  " + inked(screen, ink_of(finding.severity), mark) + text.substr(2 + mark.size());
}

/// A remedy that is a command and nothing else.
bool is_command(const std::string& remedy) {
  return remedy.starts_with("wic-prof ") && remedy.find(';') == remedy.npos;
}

std::string labelled(std::string_view label, std::string_view text, const Screen& screen) {
  const std::size_t indent = kIndent + label.size();
  return std::string(kIndent, ' ').append(label) + wrap(text, screen.beside(indent), indent) + "\n";
}

std::string whole_text(const Finding& finding, const Screen& screen) {
  std::string text = head_text(finding, screen);
  if (!finding.evidence.empty()) text += labelled(kBecause, one_line(finding.evidence), screen);
  if (finding.remedy.empty()) return text;
  if (!is_command(finding.remedy)) return text + labelled(kDo, one_line(finding.remedy), screen);
  const std::size_t indent = kIndent + kDo.size();
  return text + std::string(kIndent, ' ').append(kDo) +
         wrap_command(one_line(finding.remedy), screen.beside(indent), indent + 2) + "\n";
}

}  // namespace

std::string worst_findings_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<Finding>& all = analysis.findings;
  if (all.empty()) return "Findings: none\n";
  const std::size_t whole = std::min(most, all.size());
  std::string text = all.size() > whole ? fmt::format("Findings: the worst {} of {}\n", whole, format_count(all.size()))
                                        : std::string("Findings\n");
  for (std::size_t i = 0; i < whole; ++i) text += whole_text(all[i], screen);
  if (all.size() == whole) return text;
  text += "\nAlso found\n";
  const std::size_t shown = std::min(whole + kMostOthers, all.size());
  for (std::size_t i = whole; i < shown; ++i) text += head_text(all[i], screen);
  return text + and_more(all.size(), shown, "finding");
}

std::string findings_text(const Analysis& analysis, const Screen& screen) {
  std::string text = worst_findings_text(analysis, analysis.findings.size(), screen);
  if (analysis.refusals.empty()) return text;
  text += "\nNot looked at\n";
  for (const Refusal& refusal : analysis.refusals)
    text += paragraph(screen, fmt::format("{}: {}", refusal.rule, one_line(refusal.reason)), 2, 2);
  return text;
}

}  // namespace wicprof::reports
