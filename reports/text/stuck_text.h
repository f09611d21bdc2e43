// What a program that hangs waits for, on the screen: the causes, then all that waits.
#pragma once

#include <string>

#include "analyzer/stuck/stuck.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

std::string stuck_text(const StuckView& view, const StuckAnswer& answer, const Screen& screen);

}  // namespace wicprof::reports
