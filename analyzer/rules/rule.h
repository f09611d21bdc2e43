// A rule examines a trace and reports findings, or refuses with a reason when the trace lacks what it needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/path/host_wait_parts.h"
#include "analyzer/path/lateness.h"
#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/host_polling.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/sites.h"
#include "analyzer/work/crowded_kernels.h"
#include "analyzer/work/dependent_kernels.h"
#include "analyzer/work/kernels.h"

namespace wicprof::analyzer {

struct Comparison;  // analyzer/compare/compare.h

enum class Severity { info, warning, critical };
std::string_view severity_name(Severity severity);

struct Finding {
  std::string rule;
  SiteId site = 0;        ///< 0: the finding is not about a single site
  std::string site_name;  ///< empty: the finding is not about a single site
  Severity severity = Severity::info;
  std::string text;      ///< the fact, in one sentence
  std::string evidence;  ///< the numbers behind `text`
  std::string remedy;    ///< what to do, as a command where one exists
};

/// A rule that could not look, because the trace lacks what the rule needs.
struct Refusal {
  std::string rule;
  std::string reason;
};

/// What rules examine: the trace, and results that the analyzer computes once for all rules.
struct RuleInput {
  const TraceModel& model;
  const std::vector<SiteStats>& sites;
  const std::vector<PollingLoop>& polling_loops;
  const std::vector<WakeStats>& wakes;  ///< in the order of `sites`
  const std::vector<KernelStats>& kernels;
  const std::vector<HostPolling>& host_polling;
  const std::vector<HostWaitParts>& host_wait_parts;
  const Lateness& lateness;
  const DependentKernels& dependent_kernels;
  const std::vector<CrowdedKernel>& crowded_kernels;
  const MpiWaits& mpi;
  /// The window of the iterations, or the traced time without iterations: shares of time are shares of this.
  Interval ground;
  const Comparison& change;  ///< of the iterations, around the interventions of the trace
  TimeNs ground_ns() const { return ground.end - ground.begin; }
  /// The part of the interval that lies within the ground; empty intervals for none.
  Interval within_ground(TimeNs begin, TimeNs end) const;
};

struct RuleOutcome {
  std::vector<Finding> findings;
  std::string refused;  ///< why the rule could not look; empty when it could
};

struct Rule {
  std::string_view name;
  std::string_view what;  ///< one line for people
  RuleOutcome (*apply)(const RuleInput& input);
};

/// Applies one rule. Declared only: each rule's file specializes it for the rule's tag, which list.h names.
template <class Tag>
RuleOutcome apply(const RuleInput& input);

}  // namespace wicprof::analyzer
