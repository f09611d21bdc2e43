// The driver by itself: code that is loaded by hand, calls that are found by name and calls in batches, memory that is
// mapped by hand, what the driver logs and dumps, and variables that change how it works.
#include "tests/guest/gpu.h"

#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

using namespace guest;

namespace {

__global__ void adds_one(unsigned* number) { atomicAdd(number, 1); }
/// The child's exit status, 128 + N after signal N.
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
const char* const kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nine(.param .u64 where)
{
  .reg .u64 %at;
  ld.param.u64 %at, [where];
  cvta.to.global.u64 %at, %at;
  st.global.u32 [%at], 9;
  ret;
})";
/// Polls until the word is not 0, and at most `limit` times.
const char* const kPolls = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .u32 limit = 1000000;
.visible .entry polls(.param .u64 where)
{
  .reg .u64 %at;
  .reg .u32 %seen, %turn, %most;
  .reg .pred %p;
  ld.param.u64 %at, [where];
  cvta.to.global.u64 %at, %at;
  ld.global.u32 %most, [limit];
  mov.u32 %turn, 0;
Again:
  ld.volatile.global.u32 %seen, [%at];
  setp.ne.u32 %p, %seen, 0;
  @%p bra Came;
  add.u32 %turn, %turn, 1;
  setp.lt.u32 %p, %turn, %most;
  @%p bra Again;
Came:
  st.global.u32 [%at+4], 9;
  ret;
})";

}  // namespace

// Code in PTX, by the runtime's library and by the driver's module.
void code_loaded_by_hand() {
  unsigned* const number = numbers();
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  void* arguments[] = {const_cast<unsigned**>(&number)};
  OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "nine"));
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  OK(cudaDeviceSynchronize());
  IS(*number, 9u);
  IS(cudaLibraryGetKernel(&kernel, library, "ten"), cudaErrorSymbolNotFound);
  OK(cudaLibraryUnload(library));
  IS(cudaGetLastError(), cudaErrorSymbolNotFound);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  OK(cuModuleLoadData(&module, kPtx));
  OK(cuModuleGetFunction(&function, module, "nine"));
  *number = 0;
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuCtxSynchronize());
  IS(*number, 9u);
  OK(cuModuleUnload(module));
}
void code_that_is_wrong() {
  CUmodule module = nullptr;
  char errors[2048] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  std::string wrong = kPtx;
  wrong.replace(wrong.find("st.global"), 9, "st.nowhere");
  IS(cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values), CUDA_ERROR_INVALID_PTX);
  for (char* line = std::strtok(errors, "\n"); line != nullptr; line = std::strtok(nullptr, "\n")) say("log: %s", line);
  IS(cuModuleLoadData(&module, "no code at all"), CUDA_ERROR_INVALID_IMAGE);
  std::string other = kPtx;
  other.replace(other.find("sm_80"), 5, "sm_999");
  IS(cuModuleLoadData(&module, other.c_str()), CUDA_ERROR_INVALID_PTX);
}
// What a module of one kernel that polls holds, as its program sees it.
void functions_of_loaded_code() {
  unsigned* const number = numbers(2);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  OK(cuModuleLoadData(&module, kPolls));
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module));
  IS(count, 1u);
  OK(cuModuleEnumerateFunctions(&function, 1, module));
  const char* name = nullptr;
  OK(cuFuncGetName(&name, function));
  say("function %s", name);
  std::size_t offset = 0, size = 0;
  OK(cuFuncGetParamInfo(function, 0, &offset, &size));
  IS(size, 8u);
  IS(cuFuncGetParamInfo(function, 1, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr limit = 0;
  OK(cuModuleGetGlobal(&limit, &size, module, "limit"));
  IS(size, 4u);
  IS(cuModuleGetGlobal(&limit, &size, module, "no_limit"), CUDA_ERROR_NOT_FOUND);
  unsigned* at = number;
  void* arguments[] = {&at};
  number[0] = 1;
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuCtxSynchronize());
  IS(number[1], 9u);
  OK(cuModuleUnload(module));
}
// Calls that are found by name in four ways are one call.
void calls_found_by_name() {
  const cudaStream_t one = stream();
  void *by_runtime = nullptr, *by_driver = nullptr;
  cudaDriverEntryPointQueryResult found{};
  OK(cudaGetDriverEntryPointByVersion("cuStreamSynchronize", &by_runtime, 12000, cudaEnableDefault, &found));
  OK(cuGetProcAddress("cuStreamSynchronize", &by_driver, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* const by_library = dlsym(driver, "cuStreamSynchronize");
  void* const by_default = dlsym(RTLD_DEFAULT, "cuStreamSynchronize");
  for (void* const each : {by_runtime, by_driver, by_library, by_default}) {
    unsigned* const number = numbers();
    busy(one, 3);
    adds_one<<<1, 1, 0, one>>>(number);
    OK(reinterpret_cast<decltype(&cuStreamSynchronize)>(each)(one));
    IS(*number, 1u);
  }
}
void copies_in_a_batch() {
  const cudaStream_t one = stream();
  unsigned *from = numbers(4), *to = numbers(4);
  for (unsigned i = 0; i < 4; ++i) from[i] = i + 1;
  void* targets[] = {to, to + 1, to + 2, to + 3};
  const void* sources[] = {from + 3, from + 2, from + 1, from};
  std::size_t sizes[] = {4, 4, 4, 4}, first = 0;
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpyBatchAsync(targets, sources, sizes, 4, &attributes, &first, 1, one));
  OK(cudaStreamSynchronize(one));
  for (unsigned i = 0; i < 4; ++i) IS(to[i], 4 - i);
}
void words_in_a_batch() {
  const cudaStream_t one = stream();
  unsigned* word = nullptr;
  unsigned seen = 0;
  OK(cudaMalloc(&word, 64));
  OK(cudaMemset(word, 0, 64));
  OK(cudaDeviceSynchronize());
  const auto address = reinterpret_cast<CUdeviceptr>(word);
  CUstreamBatchMemOpParams operations[3] = {};
  operations[0].writeValue.operation = operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = operations[1].waitValue.address = address;
  operations[0].writeValue.value = operations[1].waitValue.value = 5;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  operations[2].writeValue.address = address + 4;
  operations[2].writeValue.value = 6;
  OK(cuStreamBatchMemOp(one, 3, operations, 0));
  OK(cudaStreamSynchronize(one));
  OK(cudaMemcpy(&seen, word + 1, 4, cudaMemcpyDeviceToHost));
  IS(seen, 6u);
}
// Memory that is made, mapped and taken away by hand, as allocators with growing segments do.
void memory_mapped_by_hand() {
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t size = 0;
  OK(cuMemGetAllocationGranularity(&size, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  say("granularity %zu", size);
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle memory = 0;
  CUmemAccessDesc access{kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  OK(cuMemAddressReserve(&at, 4 * size, 0, 0, 0));
  for (unsigned i = 0; i < 4; ++i) {
    OK(cuMemCreate(&memory, size, &kind, 0));
    OK(cuMemMap(at + i * size, size, 0, memory, 0));
    OK(cuMemRelease(memory));
    OK(cuMemSetAccess(at + i * size, size, &access, 1));
    OK(cuMemsetD32(at + i * size, 0, 1));
    adds_one<<<1, 1>>>(reinterpret_cast<unsigned*>(at + i * size));
    OK(cudaDeviceSynchronize());
  }
  OK(cuMemUnmap(at, 4 * size));
  OK(cuMemAddressFree(at, 4 * size));
}
// A program that listens to the driver's errors hears its own only.
void errors_that_are_logged() {
  static std::atomic<int> heard{0};
  CUlogsCallbackHandle handle = nullptr;
  OK(cuLogsRegisterCallback(
      [](void*, CUlogLevel, char* message, std::size_t length) {
        ++heard;
        say("heard: %.*s", static_cast<int>(length), message);
      },
      nullptr, &handle));
  const cudaStream_t one = stream();
  const Word word;
  hold(one, word);
  std::thread other([&] { OK(cudaStreamSynchronize(one)); });
  pause_ms(50);
  word.set();
  other.join();
  busy(one, 5);
  OK(cudaDeviceSynchronize());
  IS(heard.load(), 0);
  IS(cudaSetDevice(-1), cudaErrorInvalidDevice);
  OK(cuLogsUnregisterCallback(handle));
}
// Variables that change how the driver works, set before it is used.
void each_launch_is_a_wait() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  prepare();
  const cudaStream_t one = stream();
  for (int i = 0; i < 5; ++i) {
    const Timed timed("launch of 5 ms");
    busy(one, 5);
  }
  OK(cudaStreamQuery(one));
}
void all_code_at_once() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  prepare();
  const cudaStream_t one = stream();
  unsigned* const number = numbers();
  adds_one<<<1, 1, 0, one>>>(number);
  OK(cudaStreamSynchronize(one));
  IS(*number, 1u);
}
void one_connection() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  prepare();
  const cudaStream_t one = stream(), two = stream();
  busy(one, 5);
  busy(two, 5);
  const Timed timed("wait for both");
  OK(cudaStreamSynchronize(two));
  OK(cudaStreamSynchronize(one));
}
void no_gpu_is_visible() {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  int count = -1;
  IS(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  IS(cudaDeviceSynchronize(), cudaErrorNoDevice);
  IS(cuInit(0), CUDA_ERROR_NO_DEVICE);
}
void profiled_range() {
  OK(cudaProfilerStart());
  const cudaStream_t one = stream();
  busy(one, 2);
  OK(cudaStreamSynchronize(one));
  OK(cudaProfilerStop());
}
// The driver can put a process's GPU memory away, and bring it back: servers do so to start fast.
void put_away_and_brought_back() {
  int to_child[2] = {}, to_parent[2] = {};
  if (pipe(to_child) != 0 || pipe(to_parent) != 0) return say("no pipe");
  char byte = 0;
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    const cudaStream_t one = stream();
    unsigned* number = nullptr;
    unsigned seen = 0;
    if (cudaMalloc(&number, 4) != cudaSuccess || cudaMemset(number, 0, 4) != cudaSuccess) _exit(2);
    for (int i = 0; i < 3; ++i) {
      adds_one<<<1, 1, 0, one>>>(number);
      if (cudaStreamSynchronize(one) != cudaSuccess) _exit(3);
      if (cudaMemcpy(&seen, number, 4, cudaMemcpyDeviceToHost) != cudaSuccess) _exit(4);
      if (seen != static_cast<unsigned>(i + 1)) _exit(5);
      if (write(to_parent[1], "r", 1) != 1 || read(to_child[0], &byte, 1) != 1) _exit(6);
    }
    _exit(7);
  }
  OK(cuInit(0));
  for (int i = 0; i < 3; ++i) {
    IS(read(to_parent[0], &byte, 1), 1);
    if (i < 2) {
      CUprocessState state{};
      OK(cuCheckpointProcessLock(child, nullptr));
      OK(cuCheckpointProcessCheckpoint(child, nullptr));
      OK(cuCheckpointProcessGetState(child, &state));
      IS(state, CU_PROCESS_STATE_CHECKPOINTED);
      OK(cuCheckpointProcessRestore(child, nullptr));
      OK(cuCheckpointProcessUnlock(child, nullptr));
    }
    IS(write(to_child[1], "g", 1), 1);
  }
  IS(status_of(child), 7);
}
// A fault of the GPU leaves a file for the debugger.
void dumped_after_a_fault() {
  setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
  setenv("CUDA_ENABLE_LIGHTWEIGHT_COREDUMP", "1", 1);
  setenv("CUDA_COREDUMP_FILE", "dumped", 1);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    trap_kernel<<<1, 1>>>();
    cudaDeviceSynchronize();
    _exit(7);
  }
  IS(status_of(child), 128 + SIGABRT);
  IS(unlink("dumped"), 0);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(code_loaded_by_hand),
           Q(code_that_is_wrong),
           Q(functions_of_loaded_code),
           Q(calls_found_by_name),
           Q(copies_in_a_batch),
           Q(words_in_a_batch),
           Q(memory_mapped_by_hand),
           Q(errors_that_are_logged),
           {"each_launch_is_a_wait", each_launch_is_a_wait, 0, true, 0},
           {"all_code_at_once", all_code_at_once, 0, false, 0},
           {"one_connection", one_connection, 0, true, 0},
           {"no_gpu_is_visible", no_gpu_is_visible, 0, false, 0},
           Q(profiled_range),
           {"put_away_and_brought_back", put_away_and_brought_back, 0, false, 0},
           {"dumped_after_a_fault", dumped_after_a_fault, 0, false, 0}})
