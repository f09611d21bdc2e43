// Makes a trace of files that other tools recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "import/flight/flight.h"
#include "import/trace/progress.h"
#include "protocol/result.h"

namespace wicprof::imports {

struct Imported {
  std::vector<std::string> tools;  ///< that recorded the files; each once
  std::vector<std::string> notes;  ///< what the trace lacks, and what would record it
  std::uint64_t events = 0;
};

/// What dumps of the Flight Recorder say to `wic-prof stuck`, as MetaKey::open_work has it. Empty: nothing.
using DumpsText = std::function<std::string(const std::vector<FlightDump>& dumps)>;

/// Reads the files of one job into a new trace at `output`: one, or one per rank. Error: a file cannot be read, or is
/// of no kind that is known; `output` is then to be removed.
Result<Imported> import_files(const std::vector<std::string>& files, const std::string& output,
                              const Progress& progress, const DumpsText& dumps_text = {});

}  // namespace wicprof::imports
