// The traces that come with wic-prof: the sample applications, recorded on a GPU in both modes.
#pragma once

#include <string>

#include "protocol/result.h"
#include "reports/text/screen.h"

namespace wicprof::cli {

/// An application for which parking matters and one for which it does not, each in three sentences; then a table with
/// one application per line: how it communicates, and the time per iteration in mode poll and in mode park. Sentences
/// fit the screen. Errors: no traces are bundled; a trace cannot be read.
Result<std::string> recorded_table(const reports::Screen& screen);

/// One application: the analysis of its trace in mode poll, the summary of its trace in mode park, and their
/// comparison. Errors: as above; no such application.
Result<std::string> recorded_application(const std::string& name, const reports::Screen& screen);

}  // namespace wicprof::cli
