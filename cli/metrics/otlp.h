// The metrics of a run in the form of the OpenTelemetry Protocol.
#pragma once

#include <cstdint>
#include <string>

#include "cli/metrics/facts.h"

namespace wicprof::cli {

/// An ExportMetricsServiceRequest in OTLP's JSON form: sums since the run's begin. Both times are in nanoseconds since
/// 1970.
std::string otlp_request(const MetricFacts& facts, std::int64_t begin_unix_ns, std::int64_t now_unix_ns);

/// Why a receiver took only a part, from its ExportMetricsServiceResponse; empty: it took all.
std::string rejection(const std::string& response);

}  // namespace wicprof::cli
