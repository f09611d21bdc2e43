// Contexts: the device's primary one, own ones, green ones, none; destroyed and reset.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {

/// Work without a module, which would belong to a context.
void work(CUstream into, double ms) {
  static double pauses[16];
  static std::atomic<int> next{0};
  double* const pause = &pauses[next++ % 16];
  *pause = ms;
  cuLaunchHostFunc(
      into, [](void* of) { pause_ms(*static_cast<double*>(of)); }, pause);
}
CUdevice device() {
  CUdevice one = 0;
  cuDeviceGet(&one, 0);
  return one;
}

}  // namespace

void own_context() {
  CUcontext before = nullptr, own = nullptr, now = nullptr;
  OK(cuCtxGetCurrent(&before));
  OK(cuCtxCreate(&own, nullptr, 0, device()));
  CUstream one = nullptr;
  CUevent behind = nullptr;
  OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&behind, CU_EVENT_DISABLE_TIMING));
  work(one, 5);
  OK(cuEventRecord(behind, one));
  OK(cuEventSynchronize(behind));
  work(one, 5);
  OK(cuStreamSynchronize(one));
  work(one, 5);
  OK(cuCtxSynchronize());
  OK(cuStreamQuery(one));
  OK(cuCtxGetCurrent(&now));
  IS(now == own, 1);
  OK(cuCtxDestroy(own));
  OK(cuCtxGetCurrent(&now));
  IS(now == before, 1);
  OK(cudaDeviceSynchronize());
}
void waited_for_from_another() {
  CUcontext before = nullptr, own = nullptr, popped = nullptr, now = nullptr;
  OK(cuCtxGetCurrent(&before));
  OK(cuCtxCreate(&own, nullptr, 0, device()));
  CUstream one = nullptr;
  OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  OK(cuCtxPopCurrent(&popped));
  work(one, 5);
  OK(cuStreamSynchronize(one));
  OK(cuStreamQuery(one));
  OK(cuCtxGetCurrent(&now));
  IS(now == before, 1);
  OK(cuCtxDestroy(own));
}
void none() {
  CUcontext before = nullptr, now = nullptr;
  const cudaStream_t one = stream();
  OK(cuCtxPopCurrent(&before));
  IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxGetCurrent(&now));
  IS(now == nullptr, 1);
  work(one, 5);
  OK(cuStreamSynchronize(one));  // a stream knows its context
  OK(cuCtxGetCurrent(&now));
  IS(now == nullptr, 1);
  OK(cuCtxPushCurrent(before));
}
void stack_depth_stays() {
  CUcontext own = nullptr, popped = nullptr;
  OK(cuCtxCreate(&own, nullptr, 0, device()));
  CUstream one = nullptr;
  OK(cuStreamCreate(&one, CU_STREAM_DEFAULT));
  for (int i = 0; i < 5; ++i) {
    work(one, 3);
    OK(cuStreamSynchronize(one));
    OK(cuCtxSynchronize());
  }
  int depth = 0;
  while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS && depth < 10) ++depth;
  IS(depth, 2);
}
void flags_stay() {
  unsigned before = 0, after = 0, runtime = 0;
  OK(cuCtxGetFlags(&before));
  const cudaStream_t one = stream();
  for (int i = 0; i < 3; ++i) {
    busy(one, 4);
    OK(cudaStreamSynchronize(one));
    busy(one, 4);
    OK(cudaDeviceSynchronize());
  }
  OK(cuCtxGetFlags(&after));
  OK(cudaGetDeviceFlags(&runtime));
  IS(before == after, 1);
  say("flags %x", runtime);
}
void blocking_context() {
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  const cudaStream_t one = stream();
  for (int i = 0; i < 3; ++i) {
    const Timed timed("wait");
    busy(one, 5);
    OK(cudaStreamSynchronize(one));
  }
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  IS(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
}
void device_wait_is_for_its_context_only() {
  CUcontext own = nullptr, popped = nullptr;
  OK(cuCtxCreate(&own, nullptr, 0, device()));
  CUstream one = nullptr;
  OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  static std::atomic<bool> release{false};
  OK(cuLaunchHostFunc(
      one, [](void*) { until([] { return release.load(); }); }, nullptr));
  OK(cuCtxPopCurrent(&popped));
  busy(nullptr, 5);
  OK(cudaDeviceSynchronize());
  IS(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  release = true;
  OK(cuStreamSynchronize(one));
  OK(cuCtxDestroy(own));
}
void alternating() {
  CUcontext own[2] = {}, popped = nullptr;
  CUstream streams[2] = {};
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    failed += cuCtxCreate(&own[i], nullptr, 0, device()) != CUDA_SUCCESS;
    failed += cuStreamCreate(&streams[i], CU_STREAM_DEFAULT) != CUDA_SUCCESS;
    failed += cuCtxPopCurrent(&popped) != CUDA_SUCCESS;
  }
  for (int i = 0; i < 20; ++i) {
    failed += cuCtxPushCurrent(own[i % 2]) != CUDA_SUCCESS;
    work(streams[i % 2], 0.5);
    failed += cuCtxSynchronize() != CUDA_SUCCESS;
    failed += cuStreamQuery(streams[i % 2]) != CUDA_SUCCESS;
    failed += cuCtxPopCurrent(&popped) != CUDA_SUCCESS;
  }
  for (const CUcontext each : own) failed += cuCtxDestroy(each) != CUDA_SUCCESS;
  IS(failed, 0);
}
void five_times_made_and_destroyed() {
  for (int i = 0; i < 5; ++i) {
    CUcontext own = nullptr;
    CUstream one = nullptr;
    if (cuCtxCreate(&own, nullptr, 0, device()) != CUDA_SUCCESS) say("turn %d", i);
    cuStreamCreate(&one, CU_STREAM_DEFAULT);
    work(one, 2);
    if (cuStreamSynchronize(one) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS) say("turn %d: wait", i);
    if (cuCtxDestroy(own) != CUDA_SUCCESS) say("turn %d: not destroyed", i);
  }
  OK(cudaDeviceSynchronize());
}
void green_context() {
  CUdevResource all{}, part{};
  unsigned groups = 1;
  CUdevResourceDesc descriptor{};
  CUgreenCtx green = nullptr;
  CUstream one = nullptr;
  OK(cuDeviceGetDevResource(device(), &all, CU_DEV_RESOURCE_TYPE_SM));
  OK(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 16));
  OK(cuDevResourceGenerateDesc(&descriptor, &part, 1));
  OK(cuGreenCtxCreate(&green, descriptor, device(), CU_GREEN_CTX_DEFAULT_STREAM));
  OK(cuGreenCtxStreamCreate(&one, green, CU_STREAM_NON_BLOCKING, 0));
  for (int i = 0; i < 3; ++i) {
    work(one, 4);
    OK(cuStreamSynchronize(one));
    OK(cuStreamQuery(one));
  }
  busy(one, 4);
  OK(cudaGetLastError());
  OK(cuStreamSynchronize(one));
  OK(cuStreamDestroy(one));
  OK(cuGreenCtxDestroy(green));
  OK(cudaDeviceSynchronize());
}
void reset_beside_nothing() {
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  OK(cudaDeviceReset());
  const cudaStream_t two = stream();
  busy(two, 5);
  OK(cudaStreamSynchronize(two));
  OK(cudaGetLastError());
}
void primary_released_and_retained() {
  CUcontext primary = nullptr;
  unsigned flags = 0;
  int active = 0;
  OK(cuDevicePrimaryCtxRetain(&primary, device()));
  OK(cuDevicePrimaryCtxRelease(device()));
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  OK(cuDevicePrimaryCtxGetState(device(), &flags, &active));
  IS(active, 1);
}
// A profiler holds no reference to the primary context of its own.
void primary_goes_with_its_last_reference() {
  CUcontext primary = nullptr, popped = nullptr;
  CUstream one = nullptr;
  unsigned flags = 0;
  int active = 1;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&primary, device()));
  OK(cuCtxPushCurrent(primary));
  OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  work(one, 5);
  OK(cuStreamSynchronize(one));
  OK(cuStreamDestroy(one));
  OK(cuCtxPopCurrent(&popped));
  OK(cuDevicePrimaryCtxRelease(device()));
  OK(cuDevicePrimaryCtxGetState(device(), &flags, &active));
  IS(active, 0);
}

// From main() on.
void first_result() {
  const Timed timed("first result", 250);
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 64));
  busy(nullptr, 0.1);
  OK(cudaDeviceSynchronize());
}

#define Q(name) \
  { #name, name }
QUESTIONS({{"first_result", first_result, 0, true, 0},
           Q(own_context),
           Q(waited_for_from_another),
           Q(none),
           Q(stack_depth_stays),
           Q(flags_stay),
           {"blocking_context", blocking_context, 0, true},
           Q(device_wait_is_for_its_context_only),
           Q(alternating),
           {"five_times_made_and_destroyed", five_times_made_and_destroyed, 0, true},
           Q(green_context),
           Q(reset_beside_nothing),
           Q(primary_released_and_retained),
           {"primary_goes_with_its_last_reference", primary_goes_with_its_last_reference, 0, false, 0}})
