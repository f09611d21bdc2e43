// A CUDA driver without a GPU that takes patched code: its modules are PTX texts, its memory is the program's, and its
// only kernel that runs is the one that answers readings of the device's clock. The program itself plays the patched
// loops (rewritten_app.cpp). cuInit() loads the library that CUDA_INJECTION64_PATH names, as a driver does.
#include <cuda.h>
#include <dlfcn.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collector/rewrite/device_clock.h"
#include "tests/cli/fake_rewriting_libcuda.h"
#include "tests/collector/fake_cupti.h"

namespace {

using Table = std::array<std::uint64_t, 4096>;

struct Library {
  std::string text;
  Table table{};
};

std::mutex mutex;
std::map<std::uintptr_t, Library> libraries;
std::vector<FakeMemory> areas;
std::atomic<std::uint64_t*> last_table{nullptr};
std::atomic<unsigned> clock_readings{0};
int context = 0;

Library& library_of(const void* handle) { return libraries[reinterpret_cast<std::uintptr_t>(handle)]; }

std::uint64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

const FakeCuptiControls* cupti() {
  const char* const path = std::getenv("WICPROF_CUPTI_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<const FakeCuptiControls* (*)()>(dlsym(library, "fake_cupti_controls"))();
}

/// What the clock's kernel does.
void answer(wicprof::collector::ClockWords* words, std::uint32_t first) {
  const std::uint64_t until = now() + 50'000'000;
  std::atomic_ref(words->started).store(first);
  for (std::uint32_t ping = first; ping < first + 16;) {
    if (now() > until) return;
    if (std::atomic_ref(words->ping).load() != ping) {
      std::this_thread::yield();
      continue;
    }
    if (ping == first + 1) ++clock_readings;  // the host asks on only if it got the first answer in time
    words->device_ns = now();
    std::atomic_ref(words->pong).store(ping++);
  }
}

}  // namespace

extern "C" {

void fake_cuda_memory(const FakeMemory* memory) {
  const std::lock_guard lock(mutex);
  areas.push_back(*memory);
}
std::uint64_t* fake_cuda_table() { return last_table; }
unsigned fake_cuda_clock_readings() { return clock_readings; }

CUresult cuInit(unsigned) {
  static const int started = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto initialize =
        library == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    return initialize == nullptr ? 0 : initialize();
  }();
  (void)started;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "GPU of the test", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  std::memset(uuid, 'r', sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) { return *bytes = std::size_t{1} << 30, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT   ? 132
                                                                     : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* current) {
  *current = reinterpret_cast<CUcontext>(&context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* current, CUdevice) { return cuCtxGetCurrent(current); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
  static std::uintptr_t next = 0;
  cuLibraryLoadData_params params{};
  params.library = library;
  params.code = code;
  const FakeCuptiControls* const controls = cupti();
  if (controls != nullptr) {
    controls->enter_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, 1, &params);
  }
  // It takes PTX only. FAKE_CUDA_REFUSES: words of a text that it does not take.
  const std::string text = static_cast<const char*>(params.code);
  const char* const refused = std::getenv("FAKE_CUDA_REFUSES");
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if ((text.starts_with(".") || text.starts_with("/")) &&
      (refused == nullptr || text.find(refused) == std::string::npos)) {
    result = CUDA_SUCCESS;
    const std::lock_guard lock(mutex);
    *library = reinterpret_cast<CUlibrary>(++next);
    library_of(*library).text = text;
  }
  if (controls != nullptr) {
    controls->leave_with(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, 1, &params);
  }
  return result;
}
CUresult cuLibraryUnload(CUlibrary library) {
  const std::lock_guard lock(mutex);
  libraries.erase(reinterpret_cast<std::uintptr_t>(library));
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const std::lock_guard lock(mutex);
  *kernel = reinterpret_cast<CUkernel>(library);
  return library_of(library).text.find(std::string(" ") + name + "(") == std::string::npos ? CUDA_ERROR_NOT_FOUND
                                                                                           : CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char*) {
  const std::lock_guard lock(mutex);
  Table& table = library_of(library).table;
  last_table = table.data();
  *address = reinterpret_cast<CUdeviceptr>(table.data());
  *bytes = sizeof table;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel, CUdevice) {
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 20 : 0;
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::calloc(bytes, 1);
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned) {
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) { return *stream = nullptr, CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamQuery(CUstream) { return CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr address) {
  const std::lock_guard lock(mutex);
  for (const FakeMemory& area : areas) {
    if (address < area.begin || address - area.begin >= area.bytes) continue;
    switch (which) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(data) = area.is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(data) = area.begin;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t*>(data) = area.bytes;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *static_cast<void**>(data) = reinterpret_cast<void*>(address);
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(data) = 0;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(data) = 0;
        return CUDA_SUCCESS;
      default:
        break;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** parameters, void**) {
  {
    const std::lock_guard lock(mutex);
    if (library_of(function).text.find("__wic_clock") == std::string::npos) return CUDA_ERROR_NOT_SUPPORTED;
  }
  auto* const words = *static_cast<wicprof::collector::ClockWords**>(parameters[0]);
  std::thread(answer, words, *static_cast<std::uint32_t*>(parameters[1])).detach();
  return CUDA_SUCCESS;
}
}
