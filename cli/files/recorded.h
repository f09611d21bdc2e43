// The traces that come with wic-prof: the sample applications, recorded on a GPU in both modes.
#pragma once

#include <cstddef>
#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// An application for which parking matters and one for which it does not, each in three sentences; then a table with
/// one application per line: how it communicates, and the time per iteration in mode poll and in mode park. Sentences
/// take at most `width` columns. Errors: no traces are bundled; a trace cannot be read.
Result<std::string> recorded_table(std::size_t width);

/// One application: the analysis of its trace in mode poll, the summary of its trace in mode park, and their
/// comparison. Errors: as above; no such application.
Result<std::string> recorded_application(const std::string& name);

}  // namespace wicprof::cli
