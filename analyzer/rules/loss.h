// What a trace lacks, by its own counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A counter of lost records or of errors, or a trace that ends early.
struct Loss {
  std::string name;    ///< the counter's, or "incomplete"
  std::string detail;  ///< ring, device or reason; may be empty
  std::int64_t count = 0;
  std::string text;  ///< one line for people
};

/// Empty if nothing is known to be missing.
std::vector<Loss> losses(const TraceModel& model);

}  // namespace wicprof::analyzer
