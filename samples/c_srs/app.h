#pragma once

#include "common/app.h"

namespace sample {

/// Satellite images: the CPU reads and corrects tiles; GPUs filter and distribute them.
const AppInfo& c_srs_info();

}  // namespace sample
