// A figure as one JSON document.
#pragma once

#include <string>

#include "analyzer/figures/figure.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

std::string figure_json(const Figure& figure);

}  // namespace wicprof::reports
