// A rule examines a trace and reports findings, or refuses with a reason when the trace lacks what it needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/path/critical_path.h"
#include "analyzer/path/host_wait_parts.h"
#include "analyzer/path/lateness.h"
#include "analyzer/path/memory_calls.h"
#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/host_polling.h"
#include "analyzer/waits/interrupted_kernels.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/sites.h"
#include "analyzer/work/crowded_kernels.h"
#include "analyzer/work/dependent_kernels.h"
#include "analyzer/work/device_busy.h"
#include "analyzer/work/kernels.h"
#include "analyzer/work/shared_streams.h"

namespace wicprof::analyzer {

struct Comparison;  // analyzer/compare/compare.h

enum class Severity { info, warning, critical };
std::string_view severity_name(Severity severity);

/// What a finding costs at most.
struct Cost {
  enum class Unit { time, cpus };
  Unit unit = Unit::time;
  double amount =
      0;  ///< time: the share of the time in which it happens, 1 for all of it; cpus: CPUs that are kept busy
};
/// "12.5 % of the time", "0.98 CPUs".
std::string cost_text(const Cost& cost);

struct Finding {
  std::string rule;
  SiteId site = 0;        ///< 0: the finding is not about a single site
  std::string site_name;  ///< empty: the finding is not about a single site
  Severity severity = Severity::info;
  std::string text;                         ///< the fact, in one sentence
  std::string evidence;                     ///< the numbers behind `text`
  std::string remedy;                       ///< what to do, as a command where one exists
  std::string command = {};                 ///< what to run next, if anything: the remedy itself, or what leads to it
  std::optional<Cost> cost = std::nullopt;  ///< nothing where the trace does not show it, as of a wrong result

  /// Costs less than 1 %: it was seen, but is not worth a change.
  bool negligible() const;
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
  const std::vector<DeviceBusy>& devices;  ///< within the traced time
  const std::vector<HostPolling>& host_polling;
  const std::vector<HostWaitParts>& host_wait_parts;
  const Lateness& lateness;
  const DependentKernels& dependent_kernels;
  const std::vector<CrowdedKernel>& crowded_kernels;
  const std::vector<InterruptedKernels>& interrupted_kernels;
  const MpiWaits& mpi;
  const CriticalPath& path;
  const MemoryCalls& memory_calls;
  const std::vector<SharedStream>& shared_streams;
  /// The window of the iterations, or the traced time without iterations: shares of time are shares of this.
  Interval ground;
  const Comparison& change;  ///< of the iterations, around the interventions of the trace
  TimeNs ground_ns() const { return ground.end - ground.begin; }
  /// Of that much of the ground.
  Cost time_cost(TimeNs spent) const;
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
  bool of_digests = false;  ///< whether digests have what the rule needs
};

/// Applies one rule. Declared only: each rule's file specializes it for the rule's tag, which list.h names.
template <class Tag>
RuleOutcome apply(const RuleInput& input);

}  // namespace wicprof::analyzer
