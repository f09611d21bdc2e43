// A figure as a table of text.
#pragma once

#include <string>

#include "analyzer/figures/figure.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

std::string figure_text(const Figure& figure, const Screen& screen = {});

}  // namespace wicprof::reports
