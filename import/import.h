// Makes a trace of files that other tools recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/trace/progress.h"
#include "protocol/result.h"

namespace wicprof::imports {

struct Imported {
  std::vector<std::string> tools;  ///< that recorded the files; each once
  std::vector<std::string> notes;  ///< what the trace lacks, and what would record it
  std::uint64_t events = 0;
};

/// Reads the files of one job into a new trace at `output`: one, or one per rank. Error: a file cannot be read, or is
/// of no kind that is known; `output` is then to be removed.
Result<Imported> import_files(const std::vector<std::string>& files, const std::string& output,
                              const Progress& progress);

}  // namespace wicprof::imports
