// A whole report about a trace, for the verbs that write one.
#pragma once

#include <optional>
#include <string>

#include "analyzer/analysis.h"

namespace wicprof::cli {

/// A report about `model`. It is compared with `before` when there is one, else around its own changes of mode.
inline std::string report_text(const analyzer::TraceModel& model, const analyzer::TraceModel* before,
                               analyzer::ReportFormat format) {
  const analyzer::Analysis analysis = analyzer::analyze(model);
  std::optional<analyzer::Comparison> comparison;
  if (before != nullptr) {
    comparison = analyzer::compare(*before, model);
  } else if (!model.interventions.empty()) {
    comparison = analyzer::compare(model);
  }
  return analyzer::render({model, analysis, comparison ? &*comparison : nullptr, before}, format);
}

}  // namespace wicprof::cli
