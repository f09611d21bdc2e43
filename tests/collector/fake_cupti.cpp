#include "tests/collector/fake_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "collector/cupti/records.h"
#include "tests/collector/record_bytes.h"

namespace {

using namespace wicprof::collector;

std::recursive_mutex mutex;
std::atomic<CUpti_CallbackFunc> callback{nullptr};  // others call while one takes it away
void* callback_data = nullptr;
CUpti_TimestampCallbackFunc clock_callback = nullptr;
CUpti_BuffersCallbackRequestFunc requested = nullptr;
CUpti_BuffersCallbackCompleteFunc completed = nullptr;
std::set<CUpti_ActivityKind> kinds;
std::mutex callbacks_mutex;
std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> callbacks;
// A child of fork() has no thread that would release what another thread held then.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] {
      mutex.lock();
      callbacks_mutex.lock();
    },
    [] {
      callbacks_mutex.unlock();
      mutex.unlock();
    },
    [] {
      new (&callbacks_mutex) std::mutex;
      new (&mutex) std::recursive_mutex;
    });
bool is_enabled(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const std::lock_guard lock(callbacks_mutex);
  return callbacks.contains({domain, id});
}
std::atomic<int> flushes{0}, forced_flushes{0};
std::atomic<bool> has_context{false}, in_resource_callback{false};
bool subscribed = false, counters_configured = false, all_syncs = true, zeroed = false;

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t valid = 0;
  bool incomplete = false;  // holds a kernel without an end
};
Buffer current;

std::string option(const char* key) {
  const char* all = std::getenv(kFakeVariable);
  const std::string text = std::string(" ") + (all == nullptr ? "" : all) + " ";
  const std::string wanted = std::string(" ") + key;
  const auto at = text.find(wanted);
  if (at == std::string::npos) return "";
  const auto begin = at + wanted.size();
  const auto end = text.find(' ', begin);
  return begin < text.size() && text[begin] == '=' ? text.substr(begin + 1, end - begin - 1) : "yes";
}

// What CUPTI's functions use is made when it is first used, and ends within the program's exit, as seen on an H200.
std::atomic<bool> ended{false};
struct Objects {
  ~Objects() { ended = true; }
};

/// The test's driver calls this CUPTI from now on, as the driver does once CUPTI is in use. Programs that call it
/// themselves have no such driver.
void tell_driver();

CUptiResult unless_failing(const char* function) {
  if (option("fail") != function) return CUPTI_SUCCESS;
  const std::string result = option("result");
  return result.empty() ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : static_cast<CUptiResult>(std::stoi(result));
}

std::uint32_t version() {
  if (!option("old").empty()) return 17;
  const std::string text = option("version");
  return text.empty() ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

std::size_t size_of(CUpti_ActivityKind kind) { return record_bytes(kind, version()); }

void deliver() {
  const Buffer done = std::exchange(current, {});
  if (done.data != nullptr) completed(nullptr, 0, done.data, done.bytes, done.valid);
}

void add(const void* record, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const auto* any = static_cast<const CUpti_Activity*>(record);
  if (!kinds.contains(any->kind)) return;
  if (size_of(any->kind) == 0 || size_of(any->kind) > bytes) std::abort();  // an error in the test
  bytes = size_of(any->kind);                                               // the size in this version
  if (current.data != nullptr && current.valid + bytes > current.bytes) deliver();
  if (current.data == nullptr) {
    std::size_t most = 0;
    requested(&current.data, &current.bytes, &most);
    if (current.data == nullptr) return;
    // The contract of CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER.
    if (zeroed && std::any_of(current.data, current.data + current.bytes, [](std::uint8_t b) { return b != 0; }))
      std::abort();
  }
  std::memcpy(current.data + current.valid, record, bytes);
  current.valid += bytes;
  if (any->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && static_cast<const KernelRecord*>(record)->end == 0) {
    current.incomplete = true;
  }
}

void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation, CUpti_ApiCallbackSite site,
          const void* params = nullptr, const char* symbol = nullptr, CUresult result = CUDA_SUCCESS) {
  const CUpti_CallbackFunc function = callback;
  if (function == nullptr || !is_enabled(domain, id)) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.correlationId = correlation;
  data.functionParams = params;
  if (site == CUPTI_API_EXIT && domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    data.functionReturnValue = &result;
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
    data.symbolName = symbol != nullptr ? symbol : "_Z4workPf";
  function(callback_data, domain, id, &data);  // whose own calls have callbacks, too, as seen on an H200
}

constexpr FakeCuptiControls kControls = {
    add,
    [](auto domain, auto id, auto correlation) { call(domain, id, correlation, CUPTI_API_ENTER); },
    [](auto domain, auto id, auto correlation, const void* params) {
      call(domain, id, correlation, CUPTI_API_ENTER, params);
    },
    [](const char* symbol, auto domain, auto id, auto correlation, const void* params) {
      call(domain, id, correlation, CUPTI_API_ENTER, params, symbol);
    },
    [](auto domain, auto id, auto correlation) { call(domain, id, correlation, CUPTI_API_EXIT); },
    [](auto domain, auto id, auto correlation, const void* params) {
      call(domain, id, correlation, CUPTI_API_EXIT, params);
    },
    [](auto id, auto correlation, const void* params, CUresult result) {
      call(CUPTI_CB_DOMAIN_DRIVER_API, id, correlation, CUPTI_API_EXIT, params, nullptr, result);
    },
    [] {
      CUpti_ResourceData data{};
      has_context = true;
      if (callback != nullptr && is_enabled(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED)) {
        in_resource_callback = true;
        callback(callback_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
        in_resource_callback = false;
      }
    },
    [] { return flushes.load(); },
    [] { return forced_flushes.load(); },
    [] { return clock_callback != nullptr ? clock_callback() : 0; },
    [] { return !all_syncs; },
    [](CUpti_CallbackId id, const void* params, const void* result) {
      if (callback == nullptr || !is_enabled(CUPTI_CB_DOMAIN_NVTX, id)) return;
      const CUpti_NvtxData data{nullptr, params, result};
      callback(callback_data, CUPTI_CB_DOMAIN_NVTX, id, &data);
    },
    [] { return subscribed; },
    is_enabled,
    [](CUpti_ActivityKind kind) {
      const std::lock_guard lock(mutex);
      return kinds.contains(kind);
    },
};

void tell_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto tell = driver == nullptr ? nullptr : dlsym(driver, "fake_cuda_has_cupti");
  if (tell != nullptr) reinterpret_cast<void (*)(const FakeCuptiControls*)>(tell)(&kControls);
}

}  // namespace

extern "C" {

const FakeCuptiControls* fake_cupti_controls() { return &kControls; }

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = ::version();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR_FROM_THE_TEST";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void* data) {
  *subscriber = nullptr;
  static const Objects objects;
  tell_driver();
  callback = function;
  callback_data = data;
  return unless_failing("cuptiSubscribe");
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void* data,
                              CUpti_SubscriberParams* params) {
  if (params->structSize != CUpti_SubscriberParams_STRUCT_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result = cuptiSubscribe(subscriber, function, data);
  subscribed = result == CUPTI_SUCCESS;
  if (!subscribed) std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", option("other").c_str());
  return result;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  subscribed = false;
  callback = nullptr;
  const std::lock_guard lock(callbacks_mutex);
  callbacks.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  const std::lock_guard lock(callbacks_mutex);
  if (enable != 0) callbacks.insert({domain, id});
  if (enable == 0) callbacks.erase({domain, id});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) {
    *name = "cudaLaunchKernel_v7000";
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020) {
    *name = "cudaDeviceSynchronize_v3020";
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020) {
    *name = "cudaStreamSynchronize_v3020";
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020) {
    *name = "cudaEventSynchronize_v3020";
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020) {
    *name = "cudaMemcpyAsync_v3020";
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020) {
    *name = "cudaMemcpy_v3020";
  } else {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (clock_callback == nullptr) return CUPTI_ERROR_UNKNOWN;  // CUPTI's contract: the clock is registered first
  // CUPTI's contract for managed memory: first a context, then the counters, then the kind.
  if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && !counters_configured) return CUPTI_ERROR_NOT_READY;
  if (option("fail_kind") == std::to_string(kind)) return CUPTI_ERROR_NOT_COMPATIBLE;
  const std::lock_guard lock(mutex);
  kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (!option("slow_disable").empty()) usleep(50'000);
  if (ended) std::abort();
  const std::lock_guard lock(mutex);
  kinds.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* bytes, void* value) {
  if (attribute != CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER || *bytes != 1) return CUPTI_ERROR_INVALID_PARAMETER;
  zeroed = *static_cast<std::uint8_t*>(value) != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig* config,
                                                       uint32_t count) {
  if (!has_context || in_resource_callback) return CUPTI_ERROR_NOT_INITIALIZED;
  if (!option("no_uvm").empty()) return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
  // Before CUDA 12 CUPTI had no counter of migrations between devices.
  for (uint32_t i = 0; i < count; ++i) {
    if (config[i].kind >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD && version() < 19) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
  }
  counters_configured = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  all_syncs = enable != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  requested = request;
  completed = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  clock_callback = function;
  return unless_failing("cuptiActivityRegisterTimestampCallback");
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  auto* at = reinterpret_cast<uint8_t*>(*record);
  const std::size_t next = at == nullptr ? 0 : static_cast<std::size_t>(at - buffer) + size_of((*record)->kind);
  if (next >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + next);
  return size_of((*record)->kind) == 0 ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  static std::atomic<bool> reported{false};
  *dropped = reported.exchange(true) ? 0 : std::strtoul(option("dropped").c_str(), nullptr, 10);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  const bool forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  {
    const std::lock_guard lock(mutex);
    if (forced || !current.incomplete) deliver();
  }
  ++(forced ? forced_flushes : flushes);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(uint32_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

int InitializeInjectionNvtx2(void* get_export_table) { return get_export_table != nullptr ? 1 : 0; }

}  // extern "C"
