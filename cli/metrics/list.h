// The metrics of a run: the one table, and their text. A new metric: one line in list.cpp, with what it needs in
// facts.h and where cli/record/run_app.cpp fills that in; its line in docs/how-to/metrics.md.
#pragma once

#include <string>

#include "cli/metrics/facts.h"

namespace wicprof::cli {

/// In the format OpenMetrics 1.0.
std::string metrics_text(const MetricFacts& facts);

}  // namespace wicprof::cli
