// Kernels of other kinds: those that print, assert and allocate, dependent and completed launches, clusters, launches
// by the GPU, and nodes of graphs that choose.
#include "tests/guest/gpu.h"

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

/// A line of our own, behind all that the driver has printed so far.
void say_in_order(const char* line) {
  std::fflush(stdout);
  say("%s", line);
}
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
// A loop that polls, patched or not, takes no more of an SM.
void occupancy_stays() {
  for (const int threads : {32, 256, 1024}) {
    int blocks = 0, best = 0, least = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold_kernel, threads, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, hold_kernel));
    say("%d blocks of %d threads per SM; best %d", blocks, threads, best);
  }
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
#define Q(name) \
  { #name, name }
QUESTIONS({Q(prints_at_waits), Q(prints_not_before_a_wait), Q(prints_to_a_full_buffer), Q(limits_are_set_and_stay),
           Q(assertion_that_fails), Q(allocates_in_kernels), Q(begins_before_the_one_before_ends),
           Q(begins_before_the_one_before_ends_in_a_graph), Q(event_of_a_launch), Q(in_clusters),
           Q(as_many_blocks_as_fit), Q(occupancy_stays), Q(children_of_a_kernel), Q(graph_launched_by_a_kernel),
           Q(graph_that_chooses), Q(event_within_a_graph), Q(nodes_switched_off)})
