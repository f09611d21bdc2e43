// c_fe: Laplace's equation by finite elements, split between the CPU and devices.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& c_fe_info();

}  // namespace sample
