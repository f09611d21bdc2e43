// 2-D convolution in bands of rows over the devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_c2d_info();

}  // namespace sample
