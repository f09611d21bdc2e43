#include "tests/collector/rewrite/fake_driver.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "collector/rewrite/image_bytes.h"
#include "rewriter/images/fat_binary.h"

namespace wicprof::collector::fake_driver {

FakeDriver* fake = nullptr;
thread_local std::vector<CUcontext> pushed_contexts;

namespace {

CUcontext current_context() { return pushed_contexts.empty() ? fake->context : pushed_contexts.back(); }

/// The texts of this test, or the bytes of a fat binary.
std::string bytes_of(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (!rewriter::begins_as_fat_binary(std::string_view(text, 4))) return text;
  return std::string(image_at(image));
}
bool takes(const void* image) {
  return fake->takes_fat_binaries ||
         !rewriter::begins_as_fat_binary(std::string_view(static_cast<const char*>(image), 4));
}

CUlibrary keep(const std::string& text) {
  if (text.find("__wic_sites") != std::string::npos) std::this_thread::sleep_for(fake->patched_takes);
  const std::lock_guard lock(fake->mutex);
  const auto library = reinterpret_cast<CUlibrary>(static_cast<std::uintptr_t>(++fake->loads));
  fake->libraries[library] = text;
  fake->images.push_back(text);
  return library;
}
const std::string& text_of(CUlibrary library) {
  const std::lock_guard lock(fake->mutex);
  return fake->libraries[library];
}

CUresult unless(const char* name) { return fake->failing.contains(name) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }

}  // namespace

void deliver(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* params, CUresult* result) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = params;
  data.functionReturnValue = result;
  data.context = fake->context;
  if (fake->makes_callbacks) fake->source->callback(CUPTI_CB_DOMAIN_DRIVER_API, id, data, *fake->sink);
}

CUresult load_under_cupti(CUlibrary* library, const void* image) {
  cuLibraryLoadData_params params{};
  params.library = library;
  params.code = image;
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_ENTER, &params);
  if (fake->takes_replaced_images) image = params.code;
  const std::string text = bytes_of(image);
  CUresult result = CUDA_SUCCESS;
  const bool patched = text.find("__wic_sites") != std::string::npos;
  if (!takes(image) || fake->failing.contains("load") || (patched && fake->failing.contains("load_patched"))) {
    result = CUDA_ERROR_INVALID_PTX;
  } else {
    *library = keep(text);
  }
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_EXIT, &params, &result);
  return result;
}

std::string load_file_under_cupti(CUlibrary* library, const char* file) {
  cuLibraryLoadFromFile_params params{};
  params.library = library;
  params.fileName = file;
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile, CUPTI_API_ENTER, &params);
  std::ostringstream text;
  text << std::ifstream(params.fileName).rdbuf();
  *library = keep(text.str());
  CUresult result = CUDA_SUCCESS;
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile, CUPTI_API_EXIT, &params, &result);
  return params.fileName;
}

RewriteDriver functions() {
  RewriteDriver api;
  api.library_load = [](CUlibrary* library, const void* image, CUjit_option*, void**, unsigned options,
                        CUlibraryOption*, void**, unsigned) {
    if (options != 0 && unless("options") != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    fake->loads_with_options += options != 0 ? 1 : 0;
    if (fake->source != nullptr) return load_under_cupti(library, image);
    if (const CUresult result = unless("load"); result != CUDA_SUCCESS) return result;
    if (fake->door != nullptr && fake->makes_callbacks) {
      const void* const answer = fake->door->answer(image);
      if (answer != nullptr && fake->takes_replaced_images) image = answer;
    }
    if (!takes(image)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const std::string text = bytes_of(image);
    if (text.find("__wic_sites") != std::string::npos && unless("load_patched") != CUDA_SUCCESS) {
      return CUDA_ERROR_INVALID_PTX;
    }
    *library = keep(text);
    return CUDA_SUCCESS;
  };
  api.library_unload = [](CUlibrary library) {
    const std::lock_guard lock(fake->mutex);
    ++fake->unloads;
    fake->libraries.erase(library);
    return CUDA_SUCCESS;
  };
  api.library_kernel = [](CUkernel* kernel, CUlibrary library, const char* name) {
    if (text_of(library).find(name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
    const std::lock_guard lock(fake->mutex);
    *kernel = reinterpret_cast<CUkernel>(&fake->kernels.emplace_back(library, name));
    return unless("kernel");
  };
  api.library_kernel_count = [](unsigned* count, CUlibrary library) {
    *count = 0;
    const std::string text = text_of(library);
    for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos; ++at) ++*count;
    return unless("kernel_count");
  };
  api.library_kernels = [](CUkernel* kernels, unsigned count, CUlibrary library) {
    for (unsigned i = 0; i < count; ++i) kernels[i] = reinterpret_cast<CUkernel>(library);
    return unless("kernels");
  };
  api.kernel_function = [](CUfunction* function, CUkernel kernel) {
    *function = reinterpret_cast<CUfunction>(kernel);
    return unless("kernel_function");
  };
  api.load_function = [](CUfunction function) {
    fake->loaded_functions.emplace_back(current_context(), reinterpret_cast<CUlibrary>(function));
    return CUDA_SUCCESS;
  };
  api.kernel_attribute = [](int* value, CUfunction_attribute which, CUkernel kernel, CUdevice) {
    const auto& [library, name] = *reinterpret_cast<const std::pair<CUlibrary, std::string>*>(kernel);
    std::string text = text_of(library);
    text = text.substr(text.find(" " + name + "("));
    text = text.substr(0, text.find(".entry"));
    const bool patched = text.find("__wic_state") != std::string::npos;
    const bool limited = fake->obeys_limits && text.find(".maxnreg 32\n") != std::string::npos;
    *value = 0;
    if (which == CU_FUNC_ATTRIBUTE_NUM_REGS) {
      *value = limited ? 32 : patched ? fake->registers_of_patched : fake->registers;
    }
    if (which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && limited) *value = fake->local_bytes_of_limited;
    if (which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && patched && fake->local_bytes_of.contains(name)) {
      *value = fake->local_bytes_of.at(name);
    }
    if (which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) *value = patched ? fake->most_threads_of_patched : 1024;
    return unless("attribute");
  };
  api.library_global = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary, const char*) {
    *address = reinterpret_cast<CUdeviceptr>(fake->table);
    *bytes = fake->table_bytes;
    return unless("global");
  };
  api.module_global = [](CUdeviceptr* address, std::size_t* bytes, CUmodule, const char*) {
    *address = reinterpret_cast<CUdeviceptr>(fake->table);
    *bytes = fake->table_bytes;
    return unless("global");
  };
  api.host_alloc = [](void** memory, std::size_t bytes, unsigned) {
    const std::lock_guard lock(fake->mutex);
    *memory = fake->memory.emplace_back(bytes, '\xff').data();
    return unless("alloc");
  };
  api.device_pointer = [](CUdeviceptr* address, void* memory, unsigned) {
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return unless("pointer");
  };
  api.create_stream = [](CUstream* stream, unsigned) {
    *stream = nullptr;
    return unless("stream");
  };
  api.copy_to_device = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    if (unless("copy") != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    fake->given_memory.push_back(current_context());
    return CUDA_SUCCESS;
  };
  api.copy_to_host = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return unless("copy_to_host");
  };
  api.query = [](CUstream) { return fake->copies_arrive ? unless("query") : CUDA_ERROR_NOT_READY; };
  api.synchronize = [](CUstream) { return unless("synchronize"); };
  api.current_context = [](CUcontext* context) {
    *context = current_context();
    return CUDA_SUCCESS;
  };
  api.current_device = [](CUdevice* device) {
    *device = 0;
    return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
  };
  api.primary_state = [](CUdevice device, unsigned*, int* active) {
    *active = fake->used_devices.contains(device) ? 1 : 0;
    return CUDA_SUCCESS;
  };
  api.device_count = [](int* count) {
    *count = fake->devices;
    return CUDA_SUCCESS;
  };
  api.device_attribute = [](int* value, CUdevice_attribute, CUdevice) {
    *value = 9;
    return CUDA_SUCCESS;
  };
  api.retain_primary = [](CUcontext* context, CUdevice device) {
    ++fake->retained;
    fake->retained_devices.insert(device);
    *context = reinterpret_cast<CUcontext>(0x20);
    return unless("retain");
  };
  api.release_primary = [](CUdevice) {
    --fake->retained;
    return CUDA_SUCCESS;
  };
  api.push_context = [](CUcontext context) {
    pushed_contexts.push_back(context);
    return CUDA_SUCCESS;
  };
  api.pop_context = [](CUcontext*) {
    pushed_contexts.pop_back();
    return CUDA_SUCCESS;
  };
  api.exchange_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  api.launch = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                  void**) { return unless("launch"); };
  return api;
}

}  // namespace wicprof::collector::fake_driver
