// k-means over a stream of points: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_kmn_info();

}  // namespace sample
