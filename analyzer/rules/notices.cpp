// What the runtime or the collector had to say while the program ran, such as a toggle that failed.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Keeps a program with ever new texts from filling the report. Not calibrated.
constexpr std::size_t kMaxTexts = 20;

/// Notices with one text.
struct Group {
  const store::NoticeRow* first;  ///< the earliest
  NoticeSeverity severity;        ///< the worst
  std::uint64_t count = 1;
};

/// `others`: notices with further texts.
std::vector<Group> groups_of(const std::vector<store::NoticeRow>& notices, std::uint64_t& others) {
  std::vector<Group> groups;
  for (const store::NoticeRow& notice : notices) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.first->text == notice.text; });
    if (known != groups.end()) {
      ++known->count;
      known->severity = std::max(known->severity, notice.severity);
    } else if (groups.size() < kMaxTexts) {
      groups.push_back({&notice, notice.severity});
    } else {
      ++others;
    }
  }
  return groups;
}

Severity severity_of(NoticeSeverity severity) {
  switch (severity) {
    case NoticeSeverity::info:
      return Severity::info;
    case NoticeSeverity::warning:
      return Severity::warning;
    case NoticeSeverity::error:
      break;
  }
  return Severity::critical;
}

}  // namespace

template <>
RuleOutcome apply<struct Notices>(const RuleInput& input) {
  RuleOutcome outcome;
  std::uint64_t others = 0;
  for (const Group& group : groups_of(input.model.notices, others)) {
    const TimeNs after = group.first->at - input.model.begin;
    Finding finding;
    finding.severity = severity_of(group.severity);
    finding.text = group.first->text.empty() ? "a notice whose text was lost" : one_line(group.first->text);
    finding.evidence = fmt::format("reported {}, first {} {} the traced time began",
                                   group.count == 1 ? "once" : count_of(group.count, "time"),
                                   format_duration(after < 0 ? -after : after), after < 0 ? "before" : "after");
    // A notice of this severity reports no failure, and says itself what to do.
    finding.remedy =
        group.severity == NoticeSeverity::info
            ? "nothing, unless the notice concerns what you look for"
            : "remove the reported cause; until then, waits after this time may not follow the requested strategy";
    outcome.findings.push_back(std::move(finding));
  }
  if (others > 0) {
    Finding finding;
    finding.severity = Severity::warning;
    finding.text = fmt::format("{} with further texts are not shown", count_of(others, "notice"));
    finding.evidence = fmt::format("only the first {} texts are shown", kMaxTexts);
    finding.remedy = "read all of them in the trace's table notice";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
