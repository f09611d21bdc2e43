// c_fe: Laplace's equation by finite elements, which the CPU and devices share.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& c_fe_info();

}  // namespace sample
