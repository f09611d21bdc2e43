#pragma once

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/json.h"

namespace wicprof::reports {

/// Adds who waited for whom: "parties".
void add_parties(const Analysis& analysis, Json& value);

}  // namespace wicprof::reports
