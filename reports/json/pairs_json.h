// Kernels that could start earlier, in the JSON answer.
#pragma once

#include "reports/json/values.h"

namespace wicprof::reports {

Json dependent_kernels_value(const TraceModel& model, const DependentKernels& kernels);

Json crowded_kernel_value(const TraceModel& model, const CrowdedKernel& crowded);

}  // namespace wicprof::reports
