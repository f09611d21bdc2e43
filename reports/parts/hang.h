// What a program that hung waited for, as its trace keeps it.
#pragma once

#include <optional>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

struct Hang {
  std::string kind;     ///< "missing_signal (likely)"
  std::string text;     ///< what waits for what, in words
  std::string command;  ///< shows all that waited
};
/// The likeliest cause; nothing if the program did not hang.
std::optional<Hang> hang_of(const TraceModel& model);

}  // namespace wicprof::reports
