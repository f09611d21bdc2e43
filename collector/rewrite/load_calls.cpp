#include "collector/rewrite/load_calls.h"

namespace wicprof::collector {

namespace {

/// Options of a load with which the driver compiles other code than without them; ours is compiled without.
bool changes_code(const CUjit_option* options, unsigned count) {
  for (unsigned i = 0; options != nullptr && i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_MAX_REGISTERS:
      case CU_JIT_THREADS_PER_BLOCK:
      case CU_JIT_OPTIMIZATION_LEVEL:
      case CU_JIT_GENERATE_DEBUG_INFO:
      case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

const void** image_of(CUpti_CallbackId id, const void* params) {
  void* const writable = const_cast<void*>(params);
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
      return &static_cast<cuLibraryLoadData_params*>(writable)->code;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
      return &static_cast<cuModuleLoadData_params*>(writable)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
      return &static_cast<cuModuleLoadDataEx_params*>(writable)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
      return &static_cast<cuModuleLoadFatBinary_params*>(writable)->fatCubin;
    default:
      return nullptr;
  }
}

const char** file_of(CUpti_CallbackId id, const void* params) {
  void* const writable = const_cast<void*>(params);
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
      return &static_cast<cuLibraryLoadFromFile_params*>(writable)->fileName;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
      return &static_cast<cuModuleLoad_params*>(writable)->fname;
    default:
      return nullptr;
  }
}

bool changes_code(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData: {
      const auto& load = *static_cast<const cuLibraryLoadData_params*>(params);
      return changes_code(load.jitOptions, load.numJitOptions);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile: {
      const auto& load = *static_cast<const cuLibraryLoadFromFile_params*>(params);
      return changes_code(load.jitOptions, load.numJitOptions);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx: {
      const auto& load = *static_cast<const cuModuleLoadDataEx_params*>(params);
      return changes_code(load.options, load.numOptions);
    }
    default:
      return false;
  }
}

LoadedHandles handles_of(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData: {
      CUlibrary* const library = static_cast<const cuLibraryLoadData_params*>(params)->library;
      return {library != nullptr ? *library : nullptr, nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData: {
      CUmodule* const module = static_cast<const cuModuleLoadData_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx: {
      CUmodule* const module = static_cast<const cuModuleLoadDataEx_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary: {
      CUmodule* const module = static_cast<const cuModuleLoadFatBinary_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile: {
      CUlibrary* const library = static_cast<const cuLibraryLoadFromFile_params*>(params)->library;
      return {library != nullptr ? *library : nullptr, nullptr};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad: {
      CUmodule* const module = static_cast<const cuModuleLoad_params*>(params)->module;
      return {nullptr, module != nullptr ? *module : nullptr};
    }
    default:
      return {};
  }
}

void** parameters_of(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return static_cast<const cuLaunchKernel_params*>(params)->kernelParams;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return static_cast<const cuLaunchKernelEx_params*>(params)->kernelParams;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return static_cast<const cuLaunchCooperativeKernel_params*>(params)->kernelParams;
    default:
      return nullptr;
  }
}

}  // namespace wicprof::collector
