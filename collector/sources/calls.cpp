// Calls of the driver and of the runtime.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <span>

#include "collector/cupti/call_names.h"
#include "collector/sources/equal_queries.h"
#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "collector/waits/own_calls.h"

namespace wicprof::collector {

namespace {

// Calls not recorded: lookups, and reads and changes of small states. No thread ever waits in them, and a program makes
// thousands (the runtime looks up every driver function at start, each <<<>>> makes two calls, with a tool attached
// each launch looks up its kernel's name, a library such as the WIC backend pushes and pops its context around each
// visit, a training step of PyTorch asks for its device hundreds of times, and each collective of NCCL reads six
// attributes of kernels and makes an event).
constexpr CUpti_CallbackId kQuietDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetName,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing,
    CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v3,
    CUPTI_DRIVER_TRACE_CBID_cuThreadExchangeStreamCaptureMode,
    CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes,
    CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
    CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2,
};
constexpr CUpti_CallbackId kQuietRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID___cudaPushCallConfiguration_v13000,
    CUPTI_RUNTIME_TRACE_CBID___cudaPopCallConfiguration_v13000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030,
    CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v12080,
};

// The first call makes a device's context, which takes long; from the first context on, programs make thousands that
// change the calling thread's state alone.
constexpr CUpti_CallbackId kQuietOnceThereIsAContext[] = {CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020};

// Ask whether the GPU is done, without waiting.
constexpr CUpti_CallbackId kDriverQueries[] = {
    CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz,
};
constexpr CUpti_CallbackId kRuntimeQueries[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000,
};

// What the collector calls itself (collector/waits/parking.cpp, collector/sources/rewrite.cpp), apart from calls that
// are not recorded at all.
constexpr CUpti_CallbackId kOwnDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
    CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
    CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing,
    CUPTI_DRIVER_TRACE_CBID_cuStreamGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetFlags,
    CUPTI_DRIVER_TRACE_CBID_cuThreadExchangeStreamCaptureMode,
    CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
    CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernelCount,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryEnumerateKernels,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction,
    CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunctionCount,
    CUPTI_DRIVER_TRACE_CBID_cuModuleEnumerateFunctions,
    CUPTI_DRIVER_TRACE_CBID_cuFuncLoad,
    CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
    CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
    CUPTI_DRIVER_TRACE_CBID_cuStreamGetCtx,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
};

class Calls final : public Source {
 public:
  explicit Calls(const OwnCalls& own_calls)
      : Source("calls", {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME}), own_calls_(own_calls) {}

  Result<> prepare(const Cupti& cupti) override {
    api_ = &cupti.api;
    return Source::prepare(cupti);
  }

  Result<> enable(const Cupti& cupti) override {
    if (Result<> enabled = Source::enable(cupti); !enabled) return enabled;
    // Best effort: an older CUPTI cannot exclude calls, or does not know the newest ones.
    if (api_->activity_enable_driver_api != nullptr) {
      for (const CUpti_CallbackId id : kQuietDriverCalls) api_->activity_enable_driver_api(id, 0);
    }
    exclude(kQuietRuntimeCalls);
    if (has_context_.load()) exclude(kQuietOnceThereIsAContext);
    return ok();
  }

  void tick(EventBatch&) override {
    if (!has_context_.exchange(true)) exclude(kQuietOnceThereIsAContext);
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const CallRecord&>(any);
    if (is_own(record)) return true;
    const auto event = translate(record, name_of(record, batch));
    if (event) queries_.add(*event, is_query(record), batch);
    return event.has_value();
  }

  // CUPTI may hand over nothing more of these threads for long.
  void end_of_buffer(EventBatch& batch) override { queries_.flush(batch); }

 private:
  void exclude(std::span<const CUpti_CallbackId> runtime_calls) {
    if (api_->activity_enable_runtime_api == nullptr) return;
    for (const CUpti_CallbackId id : runtime_calls) api_->activity_enable_runtime_api(id, 0);
  }

  static bool is_query(const CallRecord& record) {
    const bool driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const std::span<const CUpti_CallbackId> queries = driver ? std::span(kDriverQueries) : std::span(kRuntimeQueries);
    return std::find(queries.begin(), queries.end(), record.cbid) != queries.end();
  }

  /// Calls that wic-prof makes while it waits in the place of a call of the program.
  bool is_own(const CallRecord& record) const {
    const bool asks =
        record.kind == CUPTI_ACTIVITY_KIND_DRIVER &&
        std::find(std::begin(kOwnDriverCalls), std::end(kOwnDriverCalls), record.cbid) != std::end(kOwnDriverCalls);
    return asks && own_calls_.made(record.threadId, static_cast<TimeNs>(record.start));
  }

  TextId name_of(const CallRecord& record, EventBatch& batch) {
    const bool driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const auto domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    if (generation_ != batch.text_generation()) {
      generation_ = batch.text_generation();
      driver_names_ = runtime_names_ = {};
    }
    auto& names = driver ? driver_names_ : runtime_names_;
    if (record.cbid >= names.size()) return batch.text(call_name(*api_, domain, record.cbid));
    TextId& known = names[record.cbid];
    if (known == 0) known = batch.text(call_name(*api_, domain, record.cbid));
    return known;
  }

  // By callback number; 0: text not sent yet. There are some 1,000 calls of each kind.
  using Names = std::array<TextId, 2048>;

  const OwnCalls& own_calls_;
  const CuptiApi* api_ = nullptr;
  Names driver_names_{};
  Names runtime_names_{};
  std::uint32_t generation_ = 0;  // of the sink's texts
  EqualQueries queries_;
  std::atomic<bool> has_context_{false};
};

}  // namespace

std::unique_ptr<Source> make_calls(const OwnCalls& own_calls) { return std::make_unique<Calls>(own_calls); }

}  // namespace wicprof::collector
