// The whole report as one JSON document.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

std::string report_json(const ReportInput& input);

}  // namespace wicprof::analyzer
