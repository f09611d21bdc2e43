// The driver's functions that loading patched code needs.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace wicprof::collector {

class OwnCalls;

/// Any function may be nullptr: an older driver, or none. Tests put their own functions here.
struct RewriteDriver {
  CUresult (*library_load)(CUlibrary*, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) = nullptr;
  CUresult (*library_unload)(CUlibrary) = nullptr;
  CUresult (*library_kernel)(CUkernel*, CUlibrary, const char*) = nullptr;
  CUresult (*library_global)(CUdeviceptr*, std::size_t*, CUlibrary, const char*) = nullptr;
  CUresult (*module_global)(CUdeviceptr*, std::size_t*, CUmodule, const char*) = nullptr;
  CUresult (*kernel_attribute)(int*, CUfunction_attribute, CUkernel, CUdevice) = nullptr;
  CUresult (*host_alloc)(void**, std::size_t, unsigned) = nullptr;
  CUresult (*device_pointer)(CUdeviceptr*, void*, unsigned) = nullptr;
  CUresult (*create_stream)(CUstream*, unsigned) = nullptr;
  CUresult (*copy_to_device)(CUdeviceptr, const void*, std::size_t, CUstream) = nullptr;
  CUresult (*synchronize)(CUstream) = nullptr;
  CUresult (*current_context)(CUcontext*) = nullptr;
  CUresult (*current_device)(CUdevice*) = nullptr;
  CUresult (*device_count)(int*) = nullptr;
  CUresult (*device_attribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*retain_primary)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release_primary)(CUdevice) = nullptr;
  CUresult (*push_context)(CUcontext) = nullptr;
  CUresult (*pop_context)(CUcontext*) = nullptr;
  CUresult (*exchange_capture_mode)(CUstreamCaptureMode*) = nullptr;

  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                     void**) = nullptr;

  // What the words of waits hold, and where they are. Without them that is not known.
  CUresult (*pointer_attribute)(void*, CUpointer_attribute, CUdeviceptr) = nullptr;
  CUresult (*copy_to_host)(void*, CUdeviceptr, std::size_t, CUstream) = nullptr;
  CUresult (*query)(CUstream) = nullptr;
  CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;

  // Which devices the program uses already.
  CUresult (*primary_state)(CUdevice, unsigned*, int*) = nullptr;

  // To load kernels before their first launch; since CUDA 12.4.
  CUresult (*library_kernel_count)(unsigned*, CUlibrary) = nullptr;
  CUresult (*library_kernels)(CUkernel*, unsigned, CUlibrary) = nullptr;
  CUresult (*kernel_function)(CUfunction*, CUkernel) = nullptr;
  CUresult (*module_function_count)(unsigned*, CUmodule) = nullptr;
  CUresult (*module_functions)(CUfunction*, unsigned, CUmodule) = nullptr;
  CUresult (*load_function)(CUfunction) = nullptr;

  CUresult (*driver_version)(int*) = nullptr;

  OwnCalls* own_calls = nullptr;  ///< where OwnCode notes our calls; nullptr: nobody asks

  bool complete() const;

  /// Of the driver that the process has loaded.
  static const RewriteDriver& loaded();
};

}  // namespace wicprof::collector
