// A blocked matrix product whose panels travel between the devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_gem_info();

}  // namespace sample
