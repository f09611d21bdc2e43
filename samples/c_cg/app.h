// c_cg: conjugate gradients on the 27-point matrix of HPCCG, with the rows split between the CPU and devices.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& c_cg_info();

}  // namespace sample
