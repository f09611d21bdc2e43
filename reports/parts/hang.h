// What a program that hung waited for, as its trace keeps it: the document of `wic-prof stuck`
// (reports/json/stuck_json.h).
#pragma once

#include <optional>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/json.h"

namespace wicprof::reports {

/// The document in that text; null if it is none, or nested more deeply than one is.
Json hang_document(const std::string& text);

/// The causes, the likeliest first; null if the trace has none, or none that can be read.
Json hang_causes(const TraceModel& model);

/// "missing_signal (likely)". Exceptions of nlohmann::json for what is no cause, here and below.
std::string cause_kind(const Json& cause);
/// What waits for what, in words.
std::string cause_text(const Json& cause);

struct Hang {
  std::string kind;     ///< as cause_kind() has it
  std::string text;     ///< as cause_text() has it
  std::string command;  ///< shows all that waited
};
/// The likeliest cause; nothing if the trace has none, or none that can be read.
std::optional<Hang> hang_of(const TraceModel& model);

}  // namespace wicprof::reports
