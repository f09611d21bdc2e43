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
RuleOutcome shared_host_line(const RuleInput& input);
RuleOutcome atomic_polls(const RuleInput& input);
RuleOutcome early_polling(const RuleInput& input);
RuleOutcome late_wake(const RuleInput& input);
RuleOutcome exposed_transfer(const RuleInput& input);
RuleOutcome managed_ping_pong(const RuleInput& input);
RuleOutcome module_loading(const RuleInput& input);
RuleOutcome co_residency(const RuleInput& input);
RuleOutcome underfilled_wave(const RuleInput& input);

}  // namespace wicprof::analyzer
