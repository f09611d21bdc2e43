#include "collector/rewrite/rewrite_driver.h"

#include <dlfcn.h>

namespace wicprof::collector {

namespace {

RewriteDriver find_all() {
  RewriteDriver api;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return api;
  const auto find = [&]<class Function>(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(driver, name));
  };
  find("cuLibraryLoadData", api.library_load);
  find("cuLibraryUnload", api.library_unload);
  find("cuLibraryGetKernel", api.library_kernel);
  find("cuLibraryGetGlobal", api.library_global);
  find("cuModuleGetGlobal_v2", api.module_global);
  find("cuKernelGetAttribute", api.kernel_attribute);
  find("cuMemHostAlloc", api.host_alloc);
  find("cuMemHostGetDevicePointer_v2", api.device_pointer);
  find("cuStreamCreate", api.create_stream);
  find("cuMemcpyHtoDAsync_v2", api.copy_to_device);
  find("cuStreamSynchronize", api.synchronize);
  find("cuCtxGetCurrent", api.current_context);
  find("cuCtxGetDevice", api.current_device);
  find("cuDeviceGetCount", api.device_count);
  find("cuDeviceGetAttribute", api.device_attribute);
  find("cuDevicePrimaryCtxRetain", api.retain_primary);
  find("cuDevicePrimaryCtxRelease_v2", api.release_primary);
  find("cuCtxPushCurrent_v2", api.push_context);
  find("cuCtxPopCurrent_v2", api.pop_context);
  find("cuThreadExchangeStreamCaptureMode", api.exchange_capture_mode);
  find("cuLaunchKernel", api.launch);
  find("cuPointerGetAttribute", api.pointer_attribute);
  find("cuMemcpyDtoHAsync_v2", api.copy_to_host);
  find("cuStreamQuery", api.query);
  find("cuStreamIsCapturing", api.is_capturing);
  find("cuDevicePrimaryCtxGetState", api.primary_state);
  find("cuLibraryGetKernelCount", api.library_kernel_count);
  find("cuLibraryEnumerateKernels", api.library_kernels);
  find("cuKernelGetFunction", api.kernel_function);
  find("cuModuleGetFunctionCount", api.module_function_count);
  find("cuModuleEnumerateFunctions", api.module_functions);
  find("cuFuncLoad", api.load_function);
  find("cuDriverGetVersion", api.driver_version);
  return api;
}

}  // namespace

bool RewriteDriver::complete() const {
  return library_load && library_unload && library_kernel && library_global && module_global && kernel_attribute &&
         host_alloc && device_pointer && create_stream && copy_to_device && synchronize && current_context &&
         current_device && device_count && device_attribute && retain_primary && release_primary && push_context &&
         pop_context && exchange_capture_mode && launch;
}

const RewriteDriver& RewriteDriver::loaded() {
  static const RewriteDriver api = find_all();
  return api;
}

}  // namespace wicprof::collector
