// All rules, in the order in which reports name them. A new rule: its file beside this one, and a line in list.cpp.
#pragma once

#include <span>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

std::span<const Rule> rules();

RuleOutcome data_lost(const RuleInput& input);
RuleOutcome deadline_missed(const RuleInput& input);
RuleOutcome hot_word(const RuleInput& input);
RuleOutcome no_gain(const RuleInput& input);
RuleOutcome host_spin(const RuleInput& input);
RuleOutcome host_polls_queries(const RuleInput& input);
RuleOutcome host_descheduled(const RuleInput& input);
RuleOutcome polling_kernel(const RuleInput& input);

}  // namespace wicprof::analyzer
