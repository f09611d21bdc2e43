// The gate's answer in Markdown, also for the screen.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/markdown/code.h"
#include "reports/parts/gate_report.h"

namespace wicprof::reports {
namespace {

std::string state_text(const Check& check) {
  std::string text(check_state_name(check.state));
  return check.forgiven ? text + " (allowed)" : text == "passed" ? text : "**" + text + "**";
}

std::string answer_of(const GateResult& result) {
  const auto forgiven =
      std::count_if(result.checks.begin(), result.checks.end(), [](const Check& check) { return check.forgiven; });
  switch (result.state) {
    case CheckState::passed:
      if (forgiven == 0) return "every check passed";
      return fmt::format("{} of {} passed; the configuration allows what the table says about {}",
                         result.checks.size() - static_cast<std::size_t>(forgiven),
                         count_of(result.checks.size(), "check"), forgiven == 1 ? "the other one" : "the others");
    case CheckState::failed:
      return "a limit is exceeded, or the program got slower";
    case CheckState::inconclusive:
      return "a figure is too uncertain to decide; use more or longer runs";
    case CheckState::could_not_look:
      return "a check lacks its data; this says nothing about speed";
    case CheckState::broken:
      break;
  }
  return "the program or its recording failed; this says nothing about speed";
}

}  // namespace

template <>
std::string render_gate<struct MarkdownGate>(const GateReportInput& input) {
  const GateRun& run = input.run;
  const GateResult& result = input.result;
  std::string text = fmt::format("# wic-prof ci: {}\n\n{}.\n\n", check_state_name(result.state), answer_of(result));
  text += "| check | state | what was found |\n| --- | --- | --- |\n";
  for (const Check& check : result.checks) {
    const std::string title = check.site.empty() ? check.name : check.name + " at " + one_line(check.site);
    text += fmt::format("| {} | {} | {} |\n", escape_markdown(title), state_text(check),
                        escape_markdown(one_line(check.text)));
  }
  for (const auto& [what, comparison] : {std::pair{"Between the two sides", &result.between_sides},
                                         std::pair{"Against the baseline", &result.with_baseline}}) {
    if (!*comparison) continue;
    text += fmt::format("\n{}: {}. {}.\n", what, verdict_name((*comparison)->verdict),
                        escape_markdown(one_line((*comparison)->reason)));
  }
  for (const std::string& note : result.notes) text += fmt::format("\nNote: {}.\n", escape_markdown(one_line(note)));
  text += fmt::format("\n{} in {:.1f} s: {}\n", run.utc, run.seconds, markdown_code(run.command));
  return text;
}

}  // namespace wicprof::reports
