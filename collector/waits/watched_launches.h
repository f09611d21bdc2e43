// The calls that launch work, as far as `hybrid` watches them.
#pragma once

#include <cupti.h>

#include <algorithm>
#include <iterator>

#include "collector/waits/predictor.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// Launches, from which `hybrid` knows for what work a thread waits. Enabled while `hybrid` is in force and a wait is
/// uncertain without them: short kernels took 3 us longer with these callbacks on an H200 (kWatchedLaunch).
inline constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

inline bool is_launch(CUpti_CallbackId id) {
  return std::find(std::begin(kLaunches), std::end(kLaunches), id) != std::end(kLaunches);
}

inline void add_launch(AwaitedWork& work, CUpti_CallbackId id, const void* params) {
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz) {
    const auto& p = *static_cast<const cuLaunchKernel_params*>(params);
    work.add(p.f, {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ}, now_ns());
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz) {
    work.add(static_cast<const cuGraphLaunch_ptsz_params*>(params)->hGraphExec, {}, now_ns());
  } else {
    const auto& p = *static_cast<const cuLaunchKernelEx_params*>(params);
    const CUlaunchConfig& c = *p.config;
    work.add(p.f, {c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY, c.blockDimZ}, now_ns());
  }
}

}  // namespace wicprof::collector
