// Phrases that several reports share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/words/change.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// The waits of host threads in calls (not at wait sites), most time first.
std::vector<HostWaitStats> host_calls(const Analysis& analysis);
/// "stopped by a CPU quota", ...
std::string late_cause_words(LateCause cause);
/// "hot_word (97.2 % of the time)": what found something, and what that costs if the trace shows it.
std::string rule_with_cost(const Finding& finding);
/// "Iterations of halo.ready on NVIDIA H200", "Times of NVTX range step on the CPU": what a comparison times, and
/// where.
std::string timed_text(const Comparison& comparison);
/// "cudaStreamSynchronize in step (app.cu:47)"; the name alone where the place is not known.
std::string name_at(std::string_view name, std::string_view place);

/// The predicted change of a time.
analyzer::ChangeRange predicted_change(const Gain& gain);
/// "12.3 times shorter (4.1 to 20 times shorter)": the predicted change of a time, with its interval; "-" if there is
/// no prediction.
std::string gain_text(const std::optional<Gain>& gain);

/// "75 % (registers)": the occupancy that the launch allows, and what limits it; "-" if the device's limits are
/// unknown.
std::string occupancy_text(const KernelStats& kernel);
/// "2.25, last 25 %": waves of blocks, and how much of the device the last one fills; "-" as above.
std::string waves_text(const KernelStats& kernel);

/// "CUDA graph 9: 670 kernels per launch, of whose time gemm takes 41 %, ... (from 20 launches recorded by kernel)".
std::string graph_text(const GraphStats& graph);

/// "poll", "shared_watch 63 %, poll 37 %" of the waits; "-" if only host threads wait.
std::string strategy_mix(const SiteStats& site);

/// "poll -> park (auto)", with the site unless the whole program changed.
std::string intervention_text(const TraceModel& model, const store::InterventionRow& row);

/// The time from the request until the change was in effect.
TimeNs took_effect_after(const store::InterventionRow& row);

/// "12.3 k waits at 2 wait sites, 4 kernels in 6.02 s on NVIDIA H200".
std::string trace_line(const TraceModel& model, const Analysis& analysis);
/// "written as a dump: a wait at flag took 31 ms (wait>20ms), at 2026-01-31T23:59:59Z; ...": why and when the trace was
/// written, and what it covers; empty if no rule of `run --trigger` wrote it.
std::string dump_line(const TraceModel& model);
/// What digests lack, and what they left out; empty for traces.
std::vector<std::string> digest_sentences(const TraceModel& model);

/// Of more traces, no command names all.
inline constexpr std::size_t kNamedTraces = 8;
/// The trace's name, or those of the traces that were joined, for a command of a shell.
std::string trace_words(const TraceModel& model);

/// What the list of losses means, as its title.
std::string loss_title(const Analysis& analysis);

/// The recorded command; the program's name if the trace has no command.
std::string command_of(const TraceModel& model);

/// "528 on each of 1 word", or "-" if the trace does not distinguish words.
std::string words_text(const SiteStats& site);

/// The last choice of `auto` and its reason: "shared_watch: 528 wait on one word ...", with the number of choices.
std::string choice_text(const SiteStats& site);

/// Why waits of a patched loop have no known writer, and which kernels may be it; empty where that does not apply.
std::string open_text(const Analysis& analysis, SiteId site);
/// "12 by a copy, 3 by a memset": what released the waits of a patched loop, as far as that is known; empty else.
std::string released_text(const Analysis& analysis, SiteId site);

/// Explains the columns share and any below a table of sites.
std::string share_legend();

/// Explains the table of counted waits; empty without such waits.
std::string counted_legend(const Analysis& analysis);
/// With its interval: "12.3 W (10.1 to 14.2)", "below resolution (-0.8 to 1.1 W)". Without, where that has no width.
std::string watts_text(const Estimate& watts);
/// The same with three digits: energies of iterations are from nanojoules to kilojoules.
std::string joules_text(const Estimate& joules);
/// What the table of energy says, and what it does not; empty without meters.
std::string energy_legend(const Analysis& analysis);
std::string energy_legend(const Comparison& comparison);

/// Why the trace has no waits at sites; empty if it has some.
std::string why_no_sites(const TraceModel& model, const Analysis& analysis);

}  // namespace wicprof::reports
