// The list of all gallery applications, for programs that run every one of them.
#pragma once

#include <vector>

#include "common/app.h"

namespace sample {

/// In the order of the table in the WIC paper.
const std::vector<const AppInfo*>& all_apps();

}  // namespace sample
