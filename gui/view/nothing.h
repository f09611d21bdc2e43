// Why a view has nothing to show, and the next command.
#pragma once

#include <string>

#include "analyzer/aggregates/party_words.h"
#include "analyzer/analysis.h"
#include "gui/view/segments.h"

namespace wicprof::gui {

using analyzer::NothingToShow;

/// `path`: the trace's file, for commands.
NothingToShow no_sites(const analyzer::TraceModel& model, const analyzer::Analysis& analysis);
NothingToShow no_findings(const analyzer::Analysis& analysis, const std::string& path);
/// A trace in which the program waits in one way.
NothingToShow no_toggle(const analyzer::TraceModel& model, const BeforeAfter& values);
NothingToShow no_iterations(const analyzer::Comparison& comparison);
NothingToShow no_program();

}  // namespace wicprof::gui
