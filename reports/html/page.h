// The whole report as one HTML file that needs nothing else: no network, and scripts only for comfort.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

std::string report_html(const ReportInput& input);

}  // namespace wicprof::analyzer
