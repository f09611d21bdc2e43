// One piece of advice per wait site: rules look at one aspect each, and know nothing of what was tried already.
#pragma once

#include <vector>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

/// Waiting costs only while somebody waits: a site with waiters during less than 1 % of the time can cost no more than
/// 1 %, and a comparison counts only 2 % as a change.
inline constexpr double kTinyShare = 0.01;

/// Settles the findings that would park a site (remedies by park_command()) with each other, with `no_gain` and with
/// what the trace shows of parking at the site:
///   - waiters wait at the site during a tiny part of the time: parking cannot gain, and the remedy says so;
///   - both ways of waiting are in the trace: the remedy says what parking brought, with the verdict if the trace has
///     one, instead of advising it again;
///   - the site parks already, as advised or as `auto` chose: the remedy says so;
///   - polling costs nothing at the site (`no_gain`), or a leader polls already, which is what the advised strategy
///     does: parking makes no waiter less late, and the remedy says so;
///   - several findings advise different commands: all name the same, that of the most severe finding with a strategy;
///   - a site has advice to change and the finding `no_gain`: `no_gain` goes.
void settle_site_advice(const RuleInput& input, std::vector<Finding>& findings);

}  // namespace wicprof::analyzer
