#include "analyzer/rules/verdicts.h"

#include <algorithm>
#include <utility>

#include "analyzer/rules/list.h"
#include "analyzer/rules/site_advice.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {

namespace {

/// What may be wrong comes before what costs something, time before CPUs, and what is not worth a change last.
int rank_of(const Finding& finding) {
  const bool serious = finding.severity != Severity::info;
  if (finding.negligible()) return 6;
  if (!finding.cost) return finding.severity == Severity::critical ? 0 : serious ? 3 : 5;
  return !serious ? 4 : finding.cost->unit == Cost::Unit::time ? 1 : 2;
}

bool comes_before(const Finding& a, const Finding& b) {
  if (const int of_a = rank_of(a), of_b = rank_of(b); of_a != of_b) return of_a < of_b;
  return a.cost && b.cost && a.cost->amount > b.cost->amount;
}

/// A command and nothing else: a shell would take prose behind it otherwise than its words are.
bool is_command(std::string_view remedy) { return remedy.starts_with("wic-prof ") && safe_command(remedy) == remedy; }

}  // namespace

RuleVerdicts apply_rules(const RuleInput& input) {
  RuleVerdicts verdicts;
  for (const Rule& rule : kRules) {
    RuleOutcome outcome;
    if (input.model.is_digest() && !rule.of_digests) {
      outcome.refused = "what it needs is not in the digest; analyze the trace of a rank";
    } else {
      outcome = rule.apply(input);
    }
    if (!outcome.refused.empty()) verdicts.refusals.push_back({std::string(rule.name), std::move(outcome.refused)});
    for (Finding& finding : outcome.findings) {
      finding.rule = rule.name;
      if (finding.negligible()) finding.severity = Severity::info;
      verdicts.findings.push_back(std::move(finding));
    }
  }
  settle_site_advice(input, verdicts.findings);
  for (Finding& finding : verdicts.findings) {
    if (finding.command.empty() && is_command(finding.remedy)) finding.command = finding.remedy;
  }
  std::stable_sort(verdicts.findings.begin(), verdicts.findings.end(), comes_before);
  return verdicts;
}

}  // namespace wicprof::analyzer
