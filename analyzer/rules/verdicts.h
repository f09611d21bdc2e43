// The findings and refusals of all rules.
#pragma once

#include <vector>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

struct RuleVerdicts {
  std::vector<Finding> findings;  ///< what costs most first, and what is negligible last
  std::vector<Refusal> refusals;
};

RuleVerdicts apply_rules(const RuleInput& input);

}  // namespace wicprof::analyzer
