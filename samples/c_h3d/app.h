// The halo exchange of a 3-D cube between the CPU and devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& c_h3d_info();

}  // namespace sample
