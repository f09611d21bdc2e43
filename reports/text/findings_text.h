// The findings on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// The `most` worst findings with what they rest on and what to do; the others with what they say.
std::string worst_findings_text(const Analysis& analysis, std::size_t most, const Screen& screen);
/// All findings whole, and the rules that could not look.
std::string findings_text(const Analysis& analysis, const Screen& screen);

}  // namespace wicprof::reports
