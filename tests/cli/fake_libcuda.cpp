// A minimal CUDA driver: cuInit() loads the library that CUDA_INJECTION64_PATH names
// and calls its InitializeInjection(), once per process. It has a GPU for each letter in WICPROF_FAKE_GPUS, whose uuid
// is of that letter. It has two contexts, as if each was another GPU's, and all work of each is one kernel, which runs
// until the time that the program sets. Its modules are PTX texts; with WICPROF_FAKE_DOOR=closed it takes the image
// that the program named, whatever a callback puts there.
#include <dlfcn.h>

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "tests/cli/fake_load.h"

namespace {

const char* gpus() {
  const char* letters = std::getenv("WICPROF_FAKE_GPUS");
  return letters == nullptr ? "" : letters;
}

constexpr int kNotReady = 600;

std::atomic<long long> busy_until{0}, other_busy_until{0};  // on CLOCK_MONOTONIC; the other context's GPU has its own
std::atomic<int> queries{0};
std::atomic<unsigned> context_flags{0};
std::atomic<unsigned> other_context_flags{0};
thread_local void* pushed_context = nullptr;  // at most one
void* other_context() { return reinterpret_cast<void*>(77); }
void* stream_of_other_context() { return reinterpret_cast<void*>(78); }
std::atomic<int> capture_status{0};
std::atomic<int> stream_policy{0};
std::atomic<int> query_error{0};  // in place of an answer
std::atomic<const void*> pinned{nullptr};
std::atomic<void*> asked_of{nullptr};  // the stream or context of the last question

int query(bool other) {
  ++queries;
  if (query_error != 0) return query_error;
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec < (other ? other_busy_until : busy_until) ? kNotReady : 0;
}

// One event of each context.
int event = 0, event_of_other_context = 0;

bool exists(int device) { return device >= 0 && device < static_cast<int>(std::strlen(gpus())); }

}  // namespace

extern "C" int cuInit(unsigned) {
  static const int started = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr) return 0;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 0;
    const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    return initialize == nullptr ? 0 : initialize();
  }();
  (void)started;
  return 0;
}

extern "C" int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(std::strlen(gpus()));
  return 0;
}

extern "C" int cuDeviceGetName(char* name, int bytes, int device) {
  if (!exists(device)) return 101;
  std::snprintf(name, static_cast<std::size_t>(bytes), "GPU %c", gpus()[device]);
  return 0;
}

extern "C" int cuDeviceGetUuid_v2(void* uuid, int device) {
  if (!exists(device)) return 101;
  std::memset(uuid, gpus()[device], 16);
  return 0;
}

extern "C" int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = std::size_t{1} << 30;
  return exists(device) ? 0 : 101;
}

extern "C" int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 16 ? 132 : 0;  // multiprocessors
  return exists(device) ? 0 : 101;
}

// For the program under test.
extern "C" void fake_cuda_busy_until(long long time) { busy_until = time; }
extern "C" void fake_cuda_other_busy_until(long long time) { other_busy_until = time; }
extern "C" int fake_cuda_queries() { return queries; }
extern "C" void fake_cuda_context_flags(unsigned flags) { context_flags = flags; }
extern "C" void fake_cuda_other_context_flags(unsigned flags) { other_context_flags = flags; }
extern "C" void fake_cuda_capture_status(int status) { capture_status = status; }

extern "C" void fake_cuda_stream_policy(int policy) { stream_policy = policy; }
extern "C" void fake_cuda_query_error(int error) { query_error = error; }

extern "C" void fake_cuda_pin(const void* address) { pinned = address; }
extern "C" void* fake_cuda_asked_of() { return asked_of; }

extern "C" int cuStreamQuery(void* stream) {
  asked_of = stream;
  return query(stream == stream_of_other_context());
}
extern "C" int cuEventQuery(void* of) { return query(of == &event_of_other_context); }
extern "C" int cuStreamIsCapturing(void*, int* status) {
  *status = capture_status;
  return 0;
}
extern "C" int cuStreamGetAttribute(void*, int, int* value) {
  *value = stream_policy;
  return 0;
}
// Memory at addresses below 4096 is the host's and pinned, that below 8192 the device's; the driver knows no other but
// the one that the program pins.
extern "C" int cuPointerGetAttribute(void* value, int, unsigned long long address) {
  if (address >= 8192 && reinterpret_cast<const void*>(address) != pinned) return 1;
  *static_cast<int*>(value) = address < 4096 || address >= 8192 ? 1 : 2;
  return 0;
}
extern "C" int cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  const int before = current;
  current = *mode;
  *mode = before;
  return 0;
}
extern "C" int cuCtxGetFlags(unsigned* flags) {
  *flags = pushed_context == other_context() ? other_context_flags : context_flags;
  return 0;
}
extern "C" int cuCtxGetCurrent(void** context) {
  static int one = 0;
  *context = pushed_context != nullptr ? pushed_context : &one;
  return 0;
}
extern "C" int cuCtxPushCurrent_v2(void* context) {
  if (context != other_context()) return 801;
  pushed_context = context;
  return 0;
}
extern "C" int cuCtxPopCurrent_v2(void** context) {
  if (pushed_context == nullptr) return 801;
  *context = pushed_context;
  pushed_context = nullptr;
  return 0;
}
extern "C" int cuStreamGetCtx(void* stream, void** context) {
  if (stream != stream_of_other_context()) return cuCtxGetCurrent(context);
  *context = other_context();
  return 0;
}
extern "C" int cuEventCreate(void** made, unsigned) {
  *made = pushed_context == other_context() ? &event_of_other_context : &event;
  return 0;
}
extern "C" int cuEventDestroy_v2(void*) { return 0; }
extern "C" int cuCtxRecordEvent(void* context, void* of) {
  asked_of = context;
  return (context == other_context()) == (of == &event_of_other_context) ? 0 : 400;
}

// What `wic-prof doctor` asks.
extern "C" int cuGetErrorString(int, const char** text) {
  *text = "an error of the test";
  return 0;
}
extern "C" int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
extern "C" int cuDeviceGet(int* handle, int device) {
  *handle = device;
  return exists(device) ? 0 : 101;
}
extern "C" int cuDeviceCanAccessPeer(int* access, int, int) {
  *access = 0;
  return 0;
}
extern "C" int cuDeviceGetP2PAttribute(int* value, int, int, int) {
  *value = 0;
  return 0;
}

namespace {

std::mutex libraries_mutex;
std::map<std::uintptr_t, std::string>& libraries() {
  static auto* const all = new std::map<std::uintptr_t, std::string>;
  return *all;
}

}  // namespace

extern "C" int cuLibraryLoadData(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) {
  static std::uintptr_t next = 0;
  const void* const replaced = image_after_callback(code);
  const char* const door = std::getenv("WICPROF_FAKE_DOOR");
  if (door == nullptr || std::string(door) != "closed") code = replaced;
  if (const char first = *static_cast<const char*>(code); first != '.' && first != '/') return 209;  // no PTX
  const std::lock_guard lock(libraries_mutex);
  libraries()[++next] = static_cast<const char*>(code);
  *library = reinterpret_cast<void*>(next);
  return 0;
}
extern "C" int cuLibraryUnload(void* library) {
  const std::lock_guard lock(libraries_mutex);
  libraries().erase(reinterpret_cast<std::uintptr_t>(library));
  return 0;
}
extern "C" int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  const std::lock_guard lock(libraries_mutex);
  *kernel = library;
  const std::string& text = libraries()[reinterpret_cast<std::uintptr_t>(library)];
  return text.find(std::string(" ") + name + "(") == std::string::npos ? 500 : 0;
}
// Further functions that a driver has which takes patched code.
extern "C" int cuLibraryGetGlobal() { return 801; }
extern "C" int cuModuleGetGlobal_v2() { return 801; }
extern "C" int cuKernelGetAttribute() { return 801; }
extern "C" int cuMemHostAlloc() { return 801; }
extern "C" int cuMemHostGetDevicePointer_v2() { return 801; }
extern "C" int cuStreamCreate() { return 801; }
extern "C" int cuMemcpyHtoDAsync_v2() { return 801; }
extern "C" int cuStreamSynchronize() { return 801; }
extern "C" int cuCtxGetDevice() { return 801; }
extern "C" int cuDevicePrimaryCtxRetain() { return 801; }
extern "C" int cuDevicePrimaryCtxRelease_v2() { return 801; }
extern "C" int cuLaunchKernel() { return 801; }
