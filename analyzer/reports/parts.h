// What several reports show in the same words.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

/// Time in kernels of one name.
struct KernelTotal {
  std::string name;
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, max_ns = 0;
};
/// Most time first.
std::vector<KernelTotal> kernel_totals(const TraceModel& model);

/// Waits of host threads in calls (not at wait sites), by call.
struct HostCallTotal {
  std::string name;
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, max_ns = 0;
  std::optional<TimeNs> cpu_ns;  ///< nothing when no wait's CPU time is known
};
std::vector<HostCallTotal> host_call_totals(const TraceModel& model);

/// "poll", "shared_watch 63 %, poll 37 %" of the waits; "-" where only host threads wait.
std::string strategy_mix(const SiteStats& site);

/// "poll -> park (auto)", on the whole program or a site.
std::string intervention_text(const TraceModel& model, const store::InterventionRow& row);

/// How long after it was requested the change was in force.
TimeNs took_effect_after(const store::InterventionRow& row);

/// "12.3 k waits at 2 wait sites, 4 kernels in 6.02 s on NVIDIA H200".
std::string trace_line(const TraceModel& model, const Analysis& analysis);

/// The command that was recorded, else the program's name.
std::string command_of(const TraceModel& model);

/// "528 on each of 1 word", or "-" where the trace does not tell words apart.
std::string words_text(const SiteStats& site);

/// What `auto` stood for last and why: "shared_watch: 528 wait on one word ...", with how often it chose.
std::string choice_text(const SiteStats& site);

/// What share and waiter mean, for below a table of sites.
std::string share_legend();

/// Why there is nothing to show about sites; empty when there is something.
std::string why_no_sites(const TraceModel& model, const Analysis& analysis);

}  // namespace wicprof::analyzer
