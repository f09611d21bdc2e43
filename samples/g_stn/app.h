// A 3-D stencil on two fields, in slabs of planes over the devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_stn_info();

}  // namespace sample
