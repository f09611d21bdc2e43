// The JSON documents as values, for the reports that put them together.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

using Json = nlohmann::ordered_json;

Json analysis_value(const TraceModel& model, const Analysis& analysis);
Json comparison_value(const Comparison& comparison);

/// Two spaces of indentation and a newline at the end; bytes that are not UTF-8 become U+FFFD.
std::string document(const Json& json);

}  // namespace wicprof::analyzer
