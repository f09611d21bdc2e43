// The gallery: every application there is, for what runs them all.
#pragma once

#include <vector>

#include "common/app.h"

namespace sample {

/// In the order of the WIC paper's table.
const std::vector<const AppInfo*>& all_apps();

}  // namespace sample
