// The metrics of a run, as text. list.cpp has the one table of them.
#pragma once

#include <string>

#include "cli/metrics/facts.h"

namespace wicprof::cli {

/// In the format OpenMetrics 1.0.
std::string metrics_text(const MetricFacts& facts);

}  // namespace wicprof::cli
