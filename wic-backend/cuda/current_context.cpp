#include "cuda/current_context.h"

#include <string>

#include "cuda/driver_function.h"

namespace wic::cuda {

namespace {

struct ContextCalls {
  PFN_cuDevicePrimaryCtxRetain_v7000 retain =
      driver_function<PFN_cuDevicePrimaryCtxRetain_v7000>("cuDevicePrimaryCtxRetain");
  PFN_cuCtxGetCurrent_v4000 current = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent");
  PFN_cuCtxGetDevice_v2000 device = driver_function<PFN_cuCtxGetDevice_v2000>("cuCtxGetDevice");
  PFN_cuCtxPushCurrent_v4000 push = driver_function<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent");
  PFN_cuCtxPopCurrent_v4000 pop = driver_function<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent");

  bool complete() const {
    return retain != nullptr && current != nullptr && device != nullptr && push != nullptr && pop != nullptr;
  }
};

const ContextCalls& calls() {
  static const ContextCalls found;
  return found;
}

}  // namespace

wicprof::Result<CUcontext> program_context(int ordinal) {
  if (!calls().complete()) return wicprof::unavailable("this driver lacks calls for contexts; update the driver");
  CUcontext context = nullptr;
  CUdevice device = -1;
  if (calls().current(&context) == CUDA_SUCCESS && context != nullptr && calls().device(&device) == CUDA_SUCCESS &&
      device == ordinal) {
    return context;
  }
  const CUresult status = calls().retain(&context, ordinal);
  if (status == CUDA_SUCCESS) return context;
  return wicprof::unavailable("opening the GPU failed: CUresult " + std::to_string(static_cast<int>(status)) +
                              "; check the driver with `wic-prof doctor`");
}

CurrentContext::CurrentContext(CUcontext context) { pushed_ = calls().push(context) == CUDA_SUCCESS; }

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  if (pushed_) calls().pop(&popped);
}

}  // namespace wic::cuda
