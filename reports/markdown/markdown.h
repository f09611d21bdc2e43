// The whole report in Markdown.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

std::string report_markdown(const ReportInput& input);

}  // namespace wicprof::analyzer
