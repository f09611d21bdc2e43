// A minimal CUPTI client: requests the records of `wic-prof run --trace cuda,nvtx` and discards them. The extra time
// under wic-prof compared with this client is wic-prof's own cost. At the program's exit the client prints the number
// of record bytes to stderr, so that a client without records is not mistaken for a cheap one.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "collector/cupti/buffer_pool.h"
#include "collector/sources/list.h"

namespace {

using wicprof::collector::BufferPool;

BufferPool& pool() {
  static BufferPool* const the = new BufferPool;  // never destroyed: CUPTI's threads may use it until the process ends
  return *the;
}

std::atomic<std::uint64_t> bytes_seen{0};

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  const BufferPool::Taken taken = pool().take();
  *buffer = taken.data;
  *bytes = taken.bytes;
  *max_records = 0;
}

void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  bytes_seen.fetch_add(valid_bytes, std::memory_order_relaxed);
  pool().give(buffer);
}

// Disables the callbacks that the source `calls` excludes, too.
void exclude_quiet_calls() {
  for (const CUpti_CallbackId id :
       {CUPTI_DRIVER_TRACE_CBID_cuKernelGetName, CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,
        CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent}) {
    cuptiActivityEnableDriverApi(id, 0);
  }
  for (const CUpti_CallbackId id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID___cudaPushCallConfiguration_v13000,
        CUPTI_RUNTIME_TRACE_CBID___cudaPopCallConfiguration_v13000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060}) {
    cuptiActivityEnableRuntimeApi(id, 0);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  if (cuptiActivityRegisterCallbacks(requested, completed) != CUPTI_SUCCESS) return 1;
  auto* const waits = new wicprof::collector::WaitsOfProcess;
  for (const auto& source : wicprof::collector::select_sources({"cuda", "nvtx"}, *waits).sources) {
    for (const CUpti_ActivityKind kind : source->kinds()) cuptiActivityEnable(kind);
  }
  exclude_quiet_calls();
  cuptiActivityFlushPeriod(100);
  std::atexit([] {
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    std::fprintf(stderr, "minimal_client_bytes %llu\n", static_cast<unsigned long long>(bytes_seen.load()));
  });
  return 1;
}

// CUPTI's own entry point turns NVTX ranges into records. Use the entry of the CUPTI that this library is linked to,
// because the program may have loaded another CUPTI.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  Dl_info cupti{};
  if (dladdr(reinterpret_cast<void*>(&cuptiActivityEnable), &cupti) == 0) return 0;
  void* const library = dlopen(cupti.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto initialize = reinterpret_cast<int (*)(void*)>(dlsym(library, "InitializeInjectionNvtx2"));
  return initialize != nullptr ? initialize(get_export_table) : 0;
}
