// The parts of the page, in order. Each is HTML, or empty if it has nothing to say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/parts/report.h"

namespace wicprof::reports::html {

/// What was recorded, what is missing from it, and the answers in one row of tiles.
std::string summary_part(const ReportInput& input);
std::string comparison_part(const TraceModel& model, const Comparison& comparison);
std::string classification_part(const TraceModel& model, const Classification& classification);
std::string findings_part(const TraceModel& model, const Analysis& analysis);
/// `edges`: the wake edges of the trace that the report describes.
std::string timeline_part(const ReportInput& input, const std::vector<WakeEdge>& edges);
std::string sites_part(const TraceModel& model, const Analysis& analysis);
/// Who waited for whom, as matrices and tables, and how long waits take.
std::string parties_part(const TraceModel& model, const Analysis& analysis);
/// The wait model, interference, overlap, the critical path and the predicted gain.
std::string models_part(const TraceModel& model, const Analysis& analysis);
std::string figures_part(const TraceModel& model, std::shared_ptr<const FigureTrace> trace);
std::string energy_part(const TraceModel& model, const Analysis& analysis);
std::string kernels_part(const TraceModel& model, const Analysis& analysis);
/// Kernels that could start earlier, with their waves; empty if no kernel follows another one directly.
std::string pairs_part(const TraceModel& model, const Analysis& analysis);
std::string program_counters_part(const TraceModel& model, const Analysis& analysis);
std::string host_part(const TraceModel& model, const Analysis& analysis);
/// The ranks of an MPI program: when they waited for each other, and what that cost.
std::string ranks_part(const TraceModel& model, const Analysis& analysis);
std::string interventions_part(const TraceModel& model);

}  // namespace wicprof::reports::html
