// The traces that come with wic-prof: the gallery's applications, recorded on a GPU in both modes.
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// A table of all of them, an application a line: how it communicates, how long an iteration takes in mode poll and in
/// mode park. Errors: none are bundled, one cannot be read.
Result<std::string> recorded_table();

/// What there is to say of one application: the analysis of its trace in mode poll, the summary of that in mode park,
/// and their comparison. Error also: no such application.
Result<std::string> recorded_application(const std::string& name);

}  // namespace wicprof::cli
