#include "reports/text/findings_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports {
namespace {

/// What follows the worst findings has to stay on the screen.
constexpr std::size_t kMostOthers = 12;
constexpr std::size_t kIndent = 4;
constexpr char kAlsoSeen[] = "\nAlso seen, less than 1 % each\n";
constexpr std::string_view kBecause = "because ", kDo = "do      ", kRun = "run     ";

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

/// "[warning] hot_word (97 % of the time): up to 528 waiters poll one word ...".
std::string head_text(const Finding& finding, const Screen& screen) {
  const std::string mark = fmt::format("[{}]", severity_name(finding.severity));
  const std::string text =
      paragraph(screen, fmt::format("{} {}: {}", mark, rule_with_cost(finding), one_line(finding.text)), 2, 2);
  return "  " + inked(screen, ink_of(finding.severity), mark) + text.substr(2 + mark.size());
}

std::string labelled(std::string_view label, std::string_view text, const Screen& screen) {
  const std::size_t indent = kIndent + label.size();
  return std::string(kIndent, ' ').append(label) + wrap(text, screen.beside(indent), indent) + "\n";
}

std::string whole_text(const Finding& finding, const Screen& screen) {
  std::string text = head_text(finding, screen);
  if (!finding.evidence.empty()) text += labelled(kBecause, one_line(finding.evidence), screen);
  const bool is_command = finding.remedy == finding.command;
  if (!finding.remedy.empty() && !is_command) text += labelled(kDo, one_line(finding.remedy), screen);
  if (finding.command.empty()) return text;
  const std::string_view label = is_command ? kDo : kRun;
  const std::size_t indent = kIndent + label.size();
  return text + std::string(kIndent, ' ').append(label) +
         wrap_command(one_line(finding.command), screen.beside(indent), indent + 2) + "\n";
}

/// Findings are in order of what they cost: how many come before those that are not worth a change.
std::size_t worth_a_change(const std::vector<Finding>& all) {
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [](const Finding& finding) { return finding.negligible(); }) - all.begin());
}

std::string title(const std::vector<Finding>& all) {
  if (all.empty()) return "Findings: none\n";
  return worth_a_change(all) == 0 ? "Findings: none that costs 1 % or more\n" : "Findings\n";
}

}  // namespace

std::string worst_findings_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<Finding>& all = analysis.findings;
  const std::size_t worth = worth_a_change(all), whole = std::min(most, worth);
  std::string text = all.size() > whole && worth > 0
                         ? fmt::format("Findings: the worst {} of {}\n", whole, format_count(all.size()))
                         : title(all);
  for (std::size_t i = 0; i < whole; ++i) text += whole_text(all[i], screen);
  const std::size_t shown = std::min(whole + kMostOthers, all.size());
  for (std::size_t i = whole; i < shown; ++i) {
    if (i == worth) text += kAlsoSeen;
    if (i == whole && i < worth) text += "\nAlso found\n";
    text += head_text(all[i], screen);
  }
  return text + and_more(all.size(), shown, "finding");
}

std::string findings_text(const Analysis& analysis, const Screen& screen) {
  const std::vector<Finding>& all = analysis.findings;
  const std::size_t worth = worth_a_change(all);
  std::string text = title(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == worth) text += kAlsoSeen;
    text += whole_text(all[i], screen);
  }
  if (analysis.refusals.empty()) return text;
  text += "\nNot looked at\n";
  for (const Refusal& refusal : analysis.refusals)
    text += paragraph(screen, fmt::format("{}: {}", refusal.rule, one_line(refusal.reason)), 2, 2);
  return text;
}

}  // namespace wicprof::reports
