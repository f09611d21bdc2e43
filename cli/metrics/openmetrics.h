// The metrics of a run as text that Prometheus reads.
#pragma once

#include <string>

#include "cli/metrics/facts.h"

namespace wicprof::cli {

/// In the format OpenMetrics 1.0. Names are made of OpenTelemetry's as its specification says.
std::string metrics_text(const MetricFacts& facts);

}  // namespace wicprof::cli
