#include "collector/waits/driver_api.h"

#include <dlfcn.h>

namespace wicprof::collector {

namespace {

DriverApi find_functions() {
  DriverApi api;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return api;
  const auto find = [&]<class Function>(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(driver, name));
  };
  find("cuStreamQuery", api.stream_query);
  find("cuEventQuery", api.event_query);
  find("cuStreamIsCapturing", api.stream_is_capturing);
  find("cuStreamGetCtx", api.stream_context);
  find("cuStreamGetAttribute", api.stream_get_attribute);
  find("cuThreadExchangeStreamCaptureMode", api.exchange_capture_mode);
  find("cuCtxGetFlags", api.context_flags);
  find("cuCtxGetCurrent", api.current_context);
  find("cuCtxPushCurrent_v2", api.push_context);
  find("cuCtxPopCurrent_v2", api.pop_context);
  find("cuEventCreate", api.create_event);
  find("cuEventDestroy_v2", api.destroy_event);
  find("cuPointerGetAttribute", api.pointer_attribute);
  find("cuCtxRecordEvent", api.record_context);
  return api;
}

}  // namespace

const DriverApi& DriverApi::loaded() {
  static const DriverApi api = find_functions();
  return api;
}

}  // namespace wicprof::collector
