// Why a program is slow, on the screen: one paragraph, and the command that goes on from it.
#pragma once

#include <string>
#include <vector>

#include "reports/parts/why.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// `verbose`: below each sentence what it rests on. `traces`: the files that were written.
std::string why_text(const Why& why, const std::vector<std::string>& traces, bool verbose, const Screen& screen);

}  // namespace wicprof::reports
