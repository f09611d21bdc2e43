#include "analyzer/rules/verdicts.h"

#include <algorithm>
#include <utility>

#include "analyzer/rules/list.h"
#include "analyzer/rules/site_advice.h"

namespace wicprof::analyzer {

RuleVerdicts apply_rules(const RuleInput& input) {
  RuleVerdicts verdicts;
  for (const Rule& rule : kRules) {
    RuleOutcome outcome = rule.apply(input);
    if (!outcome.refused.empty()) verdicts.refusals.push_back({std::string(rule.name), std::move(outcome.refused)});
    for (Finding& finding : outcome.findings) {
      finding.rule = rule.name;
      verdicts.findings.push_back(std::move(finding));
    }
  }
  settle_site_advice(input, verdicts.findings);
  std::stable_sort(verdicts.findings.begin(), verdicts.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return verdicts;
}

}  // namespace wicprof::analyzer
