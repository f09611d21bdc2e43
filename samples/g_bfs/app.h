// Breadth-first search over several devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_bfs_info();

}  // namespace sample
