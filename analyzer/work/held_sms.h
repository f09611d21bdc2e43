// SMs that kernels hold while they wait.
#pragma once

#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

/// By kernel: the SM time in which one of its blocks waited at a wait site, in ns times SMs. Linear in the number of
/// waits.
std::vector<TimeNs> held_sm_time(const TraceModel& model, const WaitKernels& waits);

}  // namespace wicprof::analyzer
