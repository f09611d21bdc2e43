// What several reports show in the same words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// The waits of host threads in calls (not at wait sites), most time first.
std::vector<HostWaitStats> host_calls(const Analysis& analysis);

/// "12.3 (4.1 to 20)": how many times as fast, with its interval; "-" if there is no prediction.
std::string gain_text(const std::optional<Gain>& gain);

/// "75 % (registers)": the occupancy that the launch allows, and what limits it; "-" where the device's limits are not
/// known.
std::string occupancy_text(const KernelStats& kernel);
/// "2.25, last 25 %": waves of blocks, and how much of the device the last one fills; "-" likewise.
std::string waves_text(const KernelStats& kernel);

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

}  // namespace wicprof::reports
