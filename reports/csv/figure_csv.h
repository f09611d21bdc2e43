// A figure as comma-separated values (RFC 4180).
#pragma once

#include <string>

#include "analyzer/figures/figure.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// One header line, then one line per row. An unknown value is an empty field; a figure without data has no rows.
std::string figure_csv(const Figure& figure);

}  // namespace wicprof::reports
