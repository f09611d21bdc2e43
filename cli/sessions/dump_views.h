// What dumps of PyTorch's Flight Recorder say about a job that hung.
#pragma once

#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "import/flight/flight.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// The dumps of one job as one view, in any order. Errors, which name the files: one does not tell its rank, two are of
/// one rank, or two are of different jobs.
Result<analyzer::StuckView> view_of_dumps(const std::vector<imports::FlightDump>& dumps);

/// Whether the file begins as a dump does.
bool may_be_dump(const std::string& file);
/// Reads the dumps, and does the same.
Result<analyzer::StuckView> look_at_dumps(const std::vector<std::string>& files);

}  // namespace wicprof::cli
