// Why a view has nothing to show, and the next command.
#pragma once

#include <optional>
#include <string>

#include "analyzer/aggregates/party_words.h"
#include "analyzer/analysis.h"
#include "gui/view/segments.h"

namespace wicprof::gui {

using analyzer::NothingToShow;

/// A timeline without tracks.
NothingToShow no_tracks();
/// Why no SM shows a wait; nothing if one does, or if no kernel ran. `large`: the model may lack rows that the trace
/// has.
std::optional<NothingToShow> no_strips(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                       bool large);
// Below, `path` is the trace's file, for commands.
NothingToShow no_sites(const analyzer::TraceModel& model, const analyzer::Analysis& analysis, const std::string& path);
/// A trace without samples of program counters.
NothingToShow no_samples(const analyzer::TraceModel& model, const std::string& path);
/// A trace in which no kernel follows another one directly.
NothingToShow no_pairs(const analyzer::TraceModel& model, const analyzer::Analysis& analysis, const std::string& path);
/// A trace without waits of ranks for each other. `large`: the rows of MPI are not in memory.
NothingToShow no_ranks(const analyzer::Analysis& analysis, bool large, const std::string& path);
NothingToShow no_findings(const analyzer::Analysis& analysis, const std::string& path);
/// A trace in which the program waits in one way: what can change that.
NothingToShow no_toggle(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                        const BeforeAfter& values, const std::string& path);
NothingToShow no_iterations(const std::string& path);
/// Without a session. `model`: of the open trace, if there is one.
NothingToShow no_program(const analyzer::TraceModel* model);

}  // namespace wicprof::gui
