// Launches of other kinds than <<<>>>: what kernels print and allocate, dependent and completed launches, clusters,
// launches by the GPU, code that is loaded by hand, calls in batches, what the driver logs, and variables that change
// how it works.
#include "tests/guest/gpu.h"

#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <sys/wait.h>

#include <string>

#undef NDEBUG  // assert is a question
#include <cassert>

using namespace guest;

namespace {

__global__ void prints(int number) { printf("printed by kernel %d\n", number); }
__global__ void prints_then_holds(int number, const volatile unsigned* word) {
  printf("printed by kernel %d\n", number);
  for (const unsigned long long begin = device_ns(); *word == 0 && device_ns() - begin < 2'000'000'000;) {
  }
}
__global__ void asserts(int number) { assert(number == 0); }
__global__ void allocates(unsigned* failed) {
  void* const memory = malloc(1024);
  if (memory == nullptr) atomicAdd(failed, 1);
  free(memory);
}
/// Lets the next kernel begin, and waits until that says so.
__global__ void lets_the_next_begin(const volatile unsigned* word, volatile unsigned* timed_out) {
  asm volatile("griddepcontrol.launch_dependents;");
  for (const unsigned long long begin = device_ns(); *word == 0;) {
    if (device_ns() - begin < 1'000'000'000) continue;
    *timed_out = 1;
    return;
  }
}
__global__ void says_so_before_it_waits(volatile unsigned* word, volatile unsigned* order) {
  *word = 1;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  *order = *order + 1;
}
__global__ void sums_cluster_ranks(unsigned* sum) {
  unsigned rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) atomicAdd(sum, rank);
}
/// Each block waits until all have come, at most a second.
__global__ void comes_together(unsigned* count, unsigned* timed_out) {
  atomicAdd(count, 1);
  for (const unsigned long long begin = device_ns(); atomicAdd(count, 0) < gridDim.x;) {
    if (device_ns() - begin < 1'000'000'000) continue;
    atomicAdd(timed_out, 1);
    return;
  }
}
__global__ void adds_one(unsigned* number) { atomicAdd(number, 1); }
__global__ void launches_children(unsigned* number) {
  for (int i = 0; i < 3; ++i) adds_one<<<2, 1>>>(number);
}
__global__ void launches_graph(cudaGraphExec_t graph) { cudaGraphLaunch(graph, cudaStreamGraphFireAndForget); }
__global__ void chooses(cudaGraphConditionalHandle handle, unsigned value) { cudaGraphSetConditional(handle, value); }

/// Managed, and 0.
unsigned* numbers(int count = 1) {
  unsigned* made = nullptr;
  OK(cudaMallocManaged(&made, sizeof *made * count));
  for (int i = 0; i < count; ++i) made[i] = 0;
  return made;
}
/// A line of our own, behind all that the driver has printed so far.
void say_in_order(const char* line) {
  std::fflush(stdout);
  say("%s", line);
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

template <class... Parameters, class... Arguments>
int launch_with(cudaLaunchAttribute attribute, int blocks, cudaStream_t on, void (*kernel)(Parameters...),
                Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(1);
  config.stream = on;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
cudaLaunchAttribute dependent() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}
void load_all() {
  cudaFuncAttributes attributes{};
  OK(cudaFuncGetAttributes(&attributes, lets_the_next_begin));
  OK(cudaFuncGetAttributes(&attributes, says_so_before_it_waits));
}

}  // namespace

// The driver prints at waits, and nowhere else.
void prints_at_waits() {
  const cudaStream_t one = stream();
  const cudaEvent_t behind = event();
  prints<<<1, 1, 0, one>>>(1);
  OK(cudaStreamSynchronize(one));
  say_in_order("waited for the stream");
  prints<<<1, 1, 0, one>>>(2);
  OK(cudaEventRecord(behind, one));
  OK(cudaEventSynchronize(behind));
  say_in_order("waited for the event");
  prints<<<1, 1, 0, one>>>(3);
  OK(cudaDeviceSynchronize());
  say_in_order("waited for the device");
}
void prints_not_before_a_wait() {
  const cudaStream_t one = stream();
  const Word word;
  prints_then_holds<<<1, 1, 0, one>>>(1, word);
  pause_ms(150);
  say_in_order("nobody has waited");
  word.set();
  pause_ms(150);
  say_in_order("it has ended");
  until([&] { return cudaStreamQuery(one) == cudaSuccess; });
  pause_ms(150);
  say_in_order("it was seen to have ended");
  OK(cudaStreamSynchronize(one));
  say_in_order("waited");
}
void prints_to_a_full_buffer() {
  std::size_t bytes = 0;
  OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  say("%zu bytes", bytes);
  prints<<<4, 32>>>(7);
  OK(cudaDeviceSynchronize());
  std::fflush(stdout);
}
// Sizes can be set until the first kernel that needs them is loaded.
void limits_are_set_and_stay() {
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  busy(nullptr, 1);
  OK(cudaDeviceSynchronize());
  for (const cudaLimit limit :
       {cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitStackSize, cudaLimitDevRuntimePendingLaunchCount,
        cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize}) {
    std::size_t bytes = 0;
    OK(cudaDeviceGetLimit(&bytes, limit));
    say("limit %d: %zu", static_cast<int>(limit), bytes);
  }
}
void assertion_that_fails() {
  asserts<<<1, 1>>>(1);
  IS(cudaDeviceSynchronize(), cudaErrorAssert);
  IS(cudaGetLastError(), cudaErrorAssert);
  IS(cudaStreamSynchronize(nullptr), cudaErrorAssert);
}
void allocates_in_kernels() {
  unsigned* const failed = numbers();
  allocates<<<100, 32>>>(failed);
  OK(cudaDeviceSynchronize());
  IS(*failed, 0);
}
// The second kernel begins before the first one ends: the first one waits for it.
void begins_before_the_one_before_ends() {
  load_all();
  const cudaStream_t one = stream();
  const Word word, timed_out, order;
  lets_the_next_begin<<<1, 1, 0, one>>>(word, timed_out);
  OK(launch_with(dependent(), 1, one, says_so_before_it_waits, word.at, order.at));
  OK(cudaStreamSynchronize(one));
  IS(*timed_out.at, 0u);
  IS(*order.at, 1u);
}
void begins_before_the_one_before_ends_in_a_graph() {
  load_all();
  const cudaStream_t one = stream();
  const Word word, timed_out, order;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  lets_the_next_begin<<<1, 1, 0, one>>>(word, timed_out);
  OK(launch_with(dependent(), 1, one, says_so_before_it_waits, word.at, order.at));
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  for (int i = 0; i < 3; ++i) {
    word.set(0);
    OK(cudaGraphLaunch(made, one));
    OK(cudaStreamSynchronize(one));
  }
  IS(*timed_out.at, 0u);
  IS(*order.at, 3u);
}
// An event of a launch that completes when its blocks have begun: the wait for it ends while the kernel runs.
void event_of_a_launch() {
  const cudaStream_t one = stream();
  const Word word, timed_out;
  const cudaEvent_t begun = event();
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = begun;
  const volatile unsigned* const waits_for = word.at;
  OK(launch_with(attribute, 1, one, hold_kernel, waits_for, 1u, timed_out.at));
  OK(cudaEventSynchronize(begun));
  IS(cudaStreamQuery(one), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(one));
  IS(*timed_out.at, 0u);
}
void in_clusters() {
  unsigned* const sum = numbers();
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  OK(launch_with(attribute, 16, nullptr, sums_cluster_ranks, sum));
  OK(cudaDeviceSynchronize());
  IS(*sum, 4 * (0 + 1 + 2 + 3));
  IS(launch_with(attribute, 15, nullptr, sums_cluster_ranks, sum), cudaErrorInvalidClusterSize);
  IS(cudaGetLastError(), cudaErrorInvalidClusterSize);
}
void as_many_blocks_as_fit() {
  unsigned* const count = numbers(2);
  int per_sm = 0, sms = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, comes_together, 1024, 0));
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  say("%d blocks of 1024 threads per SM", per_sm);
  unsigned* timed_out = count + 1;
  unsigned* at = count;
  void* arguments[] = {&at, &timed_out};
  const auto launch = [&](int blocks) {
    return cudaLaunchCooperativeKernel(comes_together, dim3(static_cast<unsigned>(blocks)), dim3(1), arguments, 0,
                                       nullptr);
  };
  OK(launch(sms));
  OK(cudaDeviceSynchronize());
  IS(count[1], 0u);
  IS(launch(sms * 64), cudaErrorCooperativeLaunchTooLarge);
  IS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}
void children_of_a_kernel() {
  unsigned* const number = numbers();
  const cudaStream_t one = stream();
  launches_children<<<4, 1, 0, one>>>(number);
  OK(cudaStreamSynchronize(one));
  IS(*number, 4u * 3 * 2);
}
void graph_launched_by_a_kernel() {
  unsigned* const number = numbers();
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr, outer = nullptr;
  cudaGraphExec_t made = nullptr, launching = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  adds_one<<<8, 1, 0, one>>>(number);
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, cudaGraphInstantiateFlagDeviceLaunch));
  OK(cudaGraphUpload(made, one));
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  launches_graph<<<1, 1, 0, one>>>(made);
  OK(cudaStreamEndCapture(one, &outer));
  OK(cudaGraphInstantiate(&launching, outer, 0));
  for (int i = 0; i < 3; ++i) {
    OK(cudaGraphLaunch(launching, one));
    OK(cudaStreamSynchronize(one));
  }
  IS(*number, 3u * 8);
}
void graph_that_chooses() {
  unsigned* const number = numbers();
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaGraphConditionalHandle handle{};
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  cudaGraphNode_t first = nullptr, node = nullptr;
  unsigned yes = 1;
  void* arguments[] = {&handle, &yes};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(chooses);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  OK(cudaGraphAddNode(&node, graph, &first, nullptr, 1, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  OK(cudaStreamBeginCaptureToGraph(one, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  adds_one<<<5, 1, 0, one>>>(number);
  OK(cudaStreamEndCapture(one, nullptr));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(*number, 5u);
  unsigned no = 0;
  arguments[1] = &no;
  OK(cudaGraphExecKernelNodeSetParams(made, first, &kernel));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(*number, 5u);
}
// The host waits for an event that a node in the middle of a graph records.
void event_within_a_graph() {
  const cudaStream_t one = stream();
  const cudaEvent_t middle = event();
  const Word word, timed_out;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  busy(one, 2);
  OK(cudaEventRecordWithFlags(middle, one, cudaEventRecordExternal));
  hold(one, word, 1, &timed_out);
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  for (int i = 0; i < 3; ++i) {
    word.set(0);
    OK(cudaGraphLaunch(made, one));
    OK(cudaEventSynchronize(middle));
    IS(cudaStreamQuery(one), cudaErrorNotReady);
    word.set();
    OK(cudaStreamSynchronize(one));
  }
  IS(*timed_out.at, 0u);
}
void nodes_switched_off() {
  unsigned* const number = numbers();
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 4; ++i) adds_one<<<1, 1, 0, one>>>(number);
  OK(cudaStreamEndCapture(one, &graph));
  cudaGraphNode_t nodes[4] = {};
  std::size_t count = 4;
  OK(cudaGraphGetNodes(graph, nodes, &count));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphNodeSetEnabled(made, nodes[1], 0));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(*number, 3u);
}
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
  prints<<<1, 1, 0, one>>>(1);
  OK(cudaStreamSynchronize(one));
  say_in_order("waited");
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
  int status = 0;
  waitpid(child, &status, 0);
  IS(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), 7);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(prints_at_waits),
           Q(prints_not_before_a_wait),
           Q(prints_to_a_full_buffer),
           Q(limits_are_set_and_stay),
           Q(assertion_that_fails),
           Q(allocates_in_kernels),
           Q(begins_before_the_one_before_ends),
           Q(begins_before_the_one_before_ends_in_a_graph),
           Q(event_of_a_launch),
           Q(in_clusters),
           Q(as_many_blocks_as_fit),
           Q(children_of_a_kernel),
           Q(graph_launched_by_a_kernel),
           Q(graph_that_chooses),
           Q(event_within_a_graph),
           Q(nodes_switched_off),
           Q(code_loaded_by_hand),
           Q(code_that_is_wrong),
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
           {"put_away_and_brought_back", put_away_and_brought_back, 0, false, 0}})
