// The driver's functions that streams, events, contexts and captures need. Each calls CUPTI before and after, and takes
// its arguments from where the callback at its entry left them, as the driver does.
#include "tests/cli/fake_calls.h"

#include <cuda.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/cupti/records.h"
#include "tests/cli/fake_gpu.h"
#include "tests/collector/fake_cupti.h"

namespace {

std::atomic<const FakeCuptiControls*> cupti{nullptr};
std::atomic<std::uint32_t> correlation{1'000'000'000};  // those of the program begin with 1
// How often the state of a stream or event was asked for, and the stream or context of the last question.
std::atomic<int> questions{0};
std::atomic<void*> asked_of{nullptr};
std::atomic<int> capture_status{0};
std::atomic<int> stream_policy{0};

/// `make` makes the call with the parameters that the callback leaves.
template <class Params, class Make>
CUresult call(CUpti_CallbackId id, Params params, Make make) {
  const FakeCuptiControls* const controls = cupti;
  if (controls == nullptr) return make(params);
  const std::uint32_t own = ++correlation;
  controls->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, id, own, &params);
  const CUresult result = make(params);
  controls->leave_returning(id, own, &params, result);
  return result;
}

struct NoParams {};

void add_kernel_record(long long ns) {
  const FakeCuptiControls* const controls = cupti;
  if (controls == nullptr) return;
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  wicprof::collector::KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.start = static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
  record.end = record.start + static_cast<std::uint64_t>(ns);
  record.name = "_Z4workPf";
  controls->add(&record, sizeof record);
}

CUstream own_default(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

}  // namespace

void find_fake_cupti() {
  const char* const path = std::getenv("WICPROF_CUPTI_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  cupti = reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(library, "fake_cupti_controls"))();
}

extern "C" {

// For the test's CUPTI, which may be loaded later than the driver.
void fake_cuda_has_cupti(const FakeCuptiControls* controls) { cupti = controls; }

// For the program under test.
void fake_cuda_busy_until(long long time) { fake_gpu::busy_until(false, time); }
void fake_cuda_other_busy_until(long long time) { fake_gpu::busy_until(true, time); }
int fake_cuda_queries() { return questions; }
void* fake_cuda_asked_of() { return asked_of; }
void fake_cuda_context_flags(unsigned flags) { fake_gpu::set_flags(fake_gpu::first_context(), flags); }
void fake_cuda_other_context_flags(unsigned flags) { fake_gpu::set_flags(fake_gpu::other_context(), flags); }
void fake_cuda_capture_status(int status) { capture_status = status; }  // what cuStreamIsCapturing says
void fake_cuda_stream_policy(int policy) { stream_policy = policy; }
void fake_cuda_query_error(int error) { fake_gpu::refuse(static_cast<CUresult>(error)); }

CUresult cuStreamQuery(CUstream stream) {
  ++questions;
  asked_of = stream;
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, cuStreamQuery_params{stream},
              [](auto& p) { return fake_gpu::query_stream(p.hStream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, cuStreamSynchronize_params{stream},
              [](auto& p) { return fake_gpu::wait_for_stream(p.hStream); });
}
CUresult cuStreamSynchronize_ptsz(CUstream stream) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, cuStreamSynchronize_ptsz_params{stream},
              [](auto& p) { return fake_gpu::wait_for_stream(own_default(p.hStream)); });
}
CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, cuStreamCreate_params{stream, flags},
              [](auto& p) { return fake_gpu::create_stream(p.phStream, p.Flags, 0); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority,
              cuStreamCreateWithPriority_params{stream, flags, priority},
              [](auto& p) { return fake_gpu::create_stream(p.phStream, p.flags, p.priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, cuStreamDestroy_v2_params{stream},
              [](auto& p) { return fake_gpu::destroy_stream(p.hStream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, cuStreamWaitEvent_params{stream, event, flags},
              [](auto& p) { return fake_gpu::stream_waits_for(p.hStream, p.hEvent); });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) { return fake_gpu::context_of(stream, context); }
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) { return fake_gpu::id_of(stream, id); }
CUresult cuStreamGetPriority(CUstream stream, int* priority) { return fake_gpu::priority_of(stream, priority); }
CUresult cuStreamGetAttribute(CUstream, CUstreamAttrID, CUstreamAttrValue* value) {
  value->syncPolicy = static_cast<CUsynchronizationPolicy>(stream_policy.load());
  return CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, cuLaunchHostFunc_params{stream, function, data},
              [](auto& p) { return fake_gpu::launch_host_function(p.hStream, p.fn, p.userData); });
}
// `parameters`: a fake_gpu::Kernel. All functions are alike.
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  if (parameters == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
              cuLaunchKernel_params{function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra}, [](auto& p) {
                const auto& kernel = *static_cast<const fake_gpu::Kernel*>(p.kernelParams[0]);
                add_kernel_record(kernel.ns);
                return fake_gpu::launch(p.hStream, kernel);
              });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuEventCreate, cuEventCreate_params{event, flags},
              [](auto& p) { return fake_gpu::create_event(p.phEvent, p.Flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, cuEventDestroy_v2_params{event},
              [](auto& p) { return fake_gpu::destroy_event(p.hEvent); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  asked_of = stream;
  return call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, cuEventRecord_params{event, stream},
              [](auto& p) { return fake_gpu::record(p.hEvent, p.hStream); });
}
CUresult cuEventQuery(CUevent event) {
  ++questions;
  return call(CUPTI_DRIVER_TRACE_CBID_cuEventQuery, cuEventQuery_params{event},
              [](auto& p) { return fake_gpu::query_event(p.hEvent); });
}
CUresult cuEventSynchronize(CUevent event) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, cuEventSynchronize_params{event},
              [](auto& p) { return fake_gpu::wait_for_event(p.hEvent); });
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* how, unsigned flags, CUdevice device) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v4, cuCtxCreate_v4_params{context, how, flags, device},
              [](auto& p) { return fake_gpu::create_context(p.pctx, p.flags); });
}
CUresult cuCtxDestroy(CUcontext context) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, cuCtxDestroy_v2_params{context},
              [](auto& p) { return fake_gpu::destroy_context(p.ctx); });
}
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = fake_gpu::current_context(), CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) { return fake_gpu::set_current(context), CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext context) { return fake_gpu::push(context); }
CUresult cuCtxPopCurrent(CUcontext* context) { return fake_gpu::pop(context); }
CUresult cuCtxGetFlags(unsigned* flags) { return fake_gpu::context_flags(flags); }
CUresult cuCtxGetId(CUcontext context, unsigned long long* id) { return fake_gpu::id_of(context, id); }
CUresult cuCtxSynchronize() {
  return call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NoParams{},
              [](auto&) { return fake_gpu::wait_for_context(nullptr); });
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, cuCtxSynchronize_v2_params{context},
              [](auto& p) { return fake_gpu::wait_for_context(p.ctx); });
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_params{stream, mode},
              [](auto& p) { return fake_gpu::begin_capture(p.hStream, p.mode); });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, cuStreamEndCapture_params{stream, graph},
              [](auto& p) { return fake_gpu::end_capture(p.hStream, p.phGraph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (capture_status != 0) return *status = static_cast<CUstreamCaptureStatus>(capture_status.load()), CUDA_SUCCESS;
  return fake_gpu::is_capturing(stream, status);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  fake_gpu::exchange_capture_mode(mode);
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode*, std::size_t* nodes) {
  return *nodes = fake_gpu::nodes_of(graph), CUDA_SUCCESS;
}

// A copy waits for its stream's work. Memory of the device is memory of the program.
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_params{to, from, bytes, stream},
              [](auto& p) {
                const CUresult result = fake_gpu::wait_for_stream(p.hStream);
                if (result == CUDA_SUCCESS) std::memcpy(p.dstHost, reinterpret_cast<void*>(p.srcDevice), p.ByteCount);
                return result;
              });
}

}  // extern "C"
