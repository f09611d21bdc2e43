// Launches of kernels, so that a program that hangs shows what it has launched (wic-prof stuck). Not part of the trace:
// its kernels have their records there.
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/cupti/cupti_call.h"
#include "collector/rewrite/own_code.h"
#include "collector/sources/list.h"
#include "collector/waits/open_kernels.h"
#include "collector/waits/watched_launches.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

constexpr CUpti_CallbackId kKernelLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

/// The shape and the stream of a launch. False: not a launch of one kernel.
bool read_launch(CUpti_CallbackId id, const void* params, OpenKernel& to) {
  const auto take = [&](const auto& p, CUstream stream) {
    to.grid[0] = p.gridDimX, to.grid[1] = p.gridDimY, to.grid[2] = p.gridDimZ;
    to.block[0] = p.blockDimX, to.block[1] = p.blockDimY, to.block[2] = p.blockDimZ;
    to.stream = reinterpret_cast<std::uint64_t>(stream);
  };
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
      const auto& p = *static_cast<const cuLaunchKernel_params*>(params);
      take(p, p.hStream);
      return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
      const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(params);
      take(p, p.hStream);
      return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto& p = *static_cast<const cuLaunchKernelEx_params*>(params);
      if (p.config == nullptr) return false;
      take(*p.config, p.config->hStream);
      return true;
    }
    default:
      return false;
  }
}

class Launches final : public Source {
 public:
  Launches(OpenKernels& kernels, OpenWork* work) : Source("launches", {}), kernels_(kernels), work_(work) {}

  // Also while nothing is recorded: the kernel that hangs may have been launched then.
  Result<> prepare(const Cupti& cupti) override {
    for (const CUpti_CallbackId id : kKernelLaunches) {
      const Result<> enabled =
          cupti_call(cupti.api, "cuptiEnableCallback",
                     cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id));
      if (!enabled && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) return enabled;
    }
    LaunchCallbacks::need(LaunchCallbacks::User::launches, true, [](bool) {});
    kernels_.attach(work_);
    return ok();
  }

  bool wants_callbacks() const override { return true; }

  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data, EventSink&) override {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data.callbackSite != CUPTI_API_ENTER) return;
    if (OwnCode::runs()) return;
    OpenKernel kernel;
    if (work_ == nullptr || data.functionParams == nullptr || !read_launch(id, data.functionParams, kernel)) return;
    thread_local const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    kernel.thread = thread;
    kernel.correlation = data.correlationId;
    kernel.context = reinterpret_cast<std::uint64_t>(data.context);
    kernel.launched = now_ns();
    // The tool makes the name readable: a launch must not take that long.
    if (data.symbolName != nullptr) copy_name(kernel.name, data.symbolName);
    kernels_.launched(kernel);
  }

 private:
  OpenKernels& kernels_;
  OpenWork* work_;
};

}  // namespace

std::unique_ptr<Source> make_launches(OpenKernels& kernels, OpenWork* work) {
  return std::make_unique<Launches>(kernels, work);
}

}  // namespace wicprof::collector
