// A bitonic sort over several devices: see README.md.
#pragma once

#include "common/app.h"

namespace sample {

const AppInfo& g_bs_info();

}  // namespace sample
