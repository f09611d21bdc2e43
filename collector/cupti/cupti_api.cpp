#include "collector/cupti/cupti_api.h"

#include <dlfcn.h>

#include <mutex>
#include <vector>

#include "collector/cupti/cupti_call.h"
#include "protocol/environment.h"

namespace wicprof::collector {

namespace {

// The version of CUDA 11.8: since then the fields that we read have kept their offsets (collector/cupti/records.h).
constexpr std::uint32_t kOldestVersion = 18;

std::vector<std::string> candidates(const std::string& named, const std::string& preferred) {
  if (!named.empty()) return {named};
  std::vector<std::string> paths;
  if (!preferred.empty()) paths.push_back(preferred);
  for (const char* path : {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
#ifdef WICPROF_CUPTI_LIBRARY
                           WICPROF_CUPTI_LIBRARY,
#endif
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so"}) {
    paths.emplace_back(path);
  }
  return paths;
}

// Looks functions up by name and collects the names of required functions that are missing.
class Functions {
 public:
  explicit Functions(void* library) : library_(library) {}

  template <class Function>
  void optional(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  template <class Function>
  void required(const char* name, Function& function) {
    optional(name, function);
    if (function == nullptr) missing_ += missing_.empty() ? name : std::string(", ") + name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

/// CUPTI leaves it to the subscriber that only one thread at a time enables callbacks.
decltype(&cuptiEnableCallback) enable_callback_itself = nullptr;
std::mutex enable_callback_mutex;
CUptiResult CUPTIAPI enable_callback_alone(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                                           CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const std::lock_guard lock(enable_callback_mutex);
  return enable_callback_itself(enable, subscriber, domain, id);
}

Result<CuptiApi> bind(void* library, const std::string& path) {
  CuptiApi api;
  api.library = library;
  api.path = path;
  Functions functions(library);
  functions.required("cuptiGetVersion", api.get_version);
  functions.required("cuptiGetResultString", api.get_result_string);
  functions.optional("cuptiGetErrorMessage", api.get_error_message);
  functions.required("cuptiSubscribe", api.subscribe);
  functions.optional("cuptiSubscribe_v2", api.subscribe_v2);
  functions.required("cuptiUnsubscribe", api.unsubscribe);
  functions.required("cuptiEnableCallback", enable_callback_itself);
  api.enable_callback = enable_callback_alone;
  functions.required("cuptiGetCallbackName", api.get_callback_name);
  functions.required("cuptiActivityEnable", api.activity_enable);
  functions.required("cuptiActivityDisable", api.activity_disable);
  functions.optional("cuptiActivityEnableDriverApi", api.activity_enable_driver_api);
  functions.optional("cuptiActivityEnableRuntimeApi", api.activity_enable_runtime_api);
  functions.required("cuptiActivityRegisterCallbacks", api.activity_register_callbacks);
  functions.required("cuptiActivityRegisterTimestampCallback", api.activity_register_timestamp_callback);
  functions.required("cuptiActivityGetNextRecord", api.activity_get_next_record);
  functions.required("cuptiActivityGetNumDroppedRecords", api.activity_get_num_dropped_records);
  functions.required("cuptiActivityFlushAll", api.activity_flush_all);
  functions.required("cuptiActivityFlushPeriod", api.activity_flush_period);
  functions.optional("cuptiActivitySetAttribute", api.activity_set_attribute);
  functions.optional("cuptiActivityConfigureUnifiedMemoryCounter", api.activity_configure_unified_memory_counter);
  functions.optional("cuptiActivityEnableAllSyncRecords", api.activity_enable_all_sync_records);
  functions.required("cuptiSetThreadIdType", api.set_thread_id_type);
  functions.optional("cuptiGetDeviceId", api.get_device_id);
  functions.optional("cuptiGetContextId", api.get_context_id);
  functions.optional("cuptiPCSamplingEnable", api.pc_sampling_enable);
  functions.optional("cuptiPCSamplingDisable", api.pc_sampling_disable);
  functions.optional("cuptiPCSamplingSetConfigurationAttribute", api.pc_sampling_set_configuration_attribute);
  functions.optional("cuptiPCSamplingGetNumStallReasons", api.pc_sampling_get_num_stall_reasons);
  functions.optional("cuptiPCSamplingGetStallReasons", api.pc_sampling_get_stall_reasons);
  functions.optional("cuptiPCSamplingGetData", api.pc_sampling_get_data);
  functions.optional("cuptiRegisterComputeCrcCallback", api.register_compute_crc_callback);
  functions.optional("cuptiGetSassToSourceCorrelation", api.get_sass_to_source_correlation);
  if (!functions.missing().empty()) {
    return unavailable(path + " lacks " + functions.missing() + "; use the CUPTI of CUDA 12 or newer");
  }
  if (Result<> read = cupti_call(api, "cuptiGetVersion", api.get_version(&api.version)); !read) return read.error();
  if (api.version < kOldestVersion) {
    return unavailable(path + " is CUPTI version " + std::to_string(api.version) +
                       ", older than CUDA 11.8's; use the " + "CUPTI of CUDA 12 or newer");
  }
  return api;
}

}  // namespace

Result<CuptiApi> load_cupti(const std::string& named, const std::string& preferred) {
  std::string tried;
  std::string why;
  for (const std::string& path : candidates(named, preferred)) {
    void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (loaded != nullptr) dlclose(loaded);  // counts references only
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      Result<CuptiApi> api = bind(library, path);
      if (api) api->loaded_by_program = loaded != nullptr;
      if (api) return api;
      why = api.error().message;
    } else if (why.empty() || !named.empty()) {
      const char* text = dlerror();
      why = text == nullptr ? "not found" : text;
    }
    tried += tried.empty() ? path : ", " + path;
  }
  return unavailable("cannot load CUPTI (tried " + tried + "): " + why +
                     "; install the CUDA toolkit's CUPTI, or name " + "its libcupti.so in " + kCuptiPathVariable);
}

}  // namespace wicprof::collector
