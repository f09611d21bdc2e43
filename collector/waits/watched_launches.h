// The calls that launch work, as far as `hybrid` watches them.
#pragma once

#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>

#include "collector/waits/predictor.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// Launches, from which `hybrid` knows for what work a thread waits. Enabled while `hybrid` is in force and a wait is
/// uncertain without them: short kernels took 3 us longer with these callbacks on an H200 (kWatchedLaunch).
inline constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

/// Who needs the callbacks of launches: they are enabled while anybody does. Any thread.
class LaunchCallbacks {
 public:
  enum class User : std::uint8_t { launches = 1, rewrite = 2, hybrid = 4, others_work = 8 };
  /// `enable(on)` is called where that changes.
  template <class Enable>
  static void need(User user, bool on, Enable&& enable) {
    const std::lock_guard lock(mutex_);
    const std::uint8_t before = users_;
    users_ = on ? before | static_cast<std::uint8_t>(user) : before & ~static_cast<std::uint8_t>(user);
    if ((before == 0) != (users_ == 0)) enable(users_ != 0);
  }

  /// The subscription has ended, and with it all callbacks.
  static void forget() {
    const std::lock_guard lock(mutex_);
    users_ = 0;
  }

 private:
  static inline std::mutex mutex_;
  static inline std::uint8_t users_ = 0;
};

inline bool is_launch(CUpti_CallbackId id) {
  return std::find(std::begin(kLaunches), std::end(kLaunches), id) != std::end(kLaunches);
}

/// The stream of a launch: explicit, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD in place of the default stream.
inline CUstream stream_of_launch(CUpti_CallbackId id, const void* params) {
  CUstream stream = nullptr;
  bool per_thread = false;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      per_thread = true;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      stream = static_cast<const cuLaunchKernel_params*>(params)->hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      per_thread = true;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      stream = static_cast<const cuLaunchCooperativeKernel_params*>(params)->hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      per_thread = true;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      stream = static_cast<const cuGraphLaunch_params*>(params)->hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      per_thread = true;
      [[fallthrough]];
    default:
      stream = static_cast<const cuLaunchKernelEx_params*>(params)->config->hStream;
      break;
  }
  if (stream != nullptr) return stream;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

inline void add_launch(AwaitedWork& work, CUpti_CallbackId id, const void* params) {
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz) {
    const auto& p = *static_cast<const cuLaunchKernel_params*>(params);
    work.add(p.f, {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ}, now_ns());
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
             id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz) {
    const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(params);
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
