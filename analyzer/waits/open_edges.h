// The wake edges of a program's own loops: how many waits have their other end, why the rest stays open, and which
// kernels may have written the words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

struct OpenReason {
  std::string text;  ///< why the writer is not known
  std::uint64_t waits = 0;
};

/// A kernel whose code may store to a word of the site. That it did is not known.
struct EdgeCandidate {
  std::string kernel;
  bool exact = false;       ///< it stores to the word's very address; else somewhere in the word's allocation
  std::uint64_t waits = 0;  ///< open waits that ended while the kernel ran
};

/// One site whose waits come from patched loops.
struct SiteEdges {
  SiteId site = 0;
  std::uint64_t copies = 0, memsets = 0, stream_writes = 0;  ///< waits that these released
  std::uint64_t open = 0;                                    ///< satisfied waits whose writer is not known
  std::vector<OpenReason> reasons;                           ///< most waits first
  std::vector<EdgeCandidate> candidates;                     ///< exact ones first, then most waits first
};

/// By site id. Empty where no loop of the program was patched.
std::vector<SiteEdges> open_edges(const TraceModel& model, const Matching& matching);

/// "the writer of 12 of 20 waits is not known: ...", and the candidates; empty where nothing is open.
std::string open_edges_text(const SiteEdges& edges);

}  // namespace wicprof::analyzer
