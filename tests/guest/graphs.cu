// Graphs: launches and waits, host nodes, conditional nodes, updates, and memory nodes.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {

cudaGraphExec_t captured(cudaStream_t one, int kernels, double ms) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) busy(one, ms);
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphDestroy(graph));
  return made;
}
/// Runs its body once, then says that it shall not again.
__global__ void ends_loop(cudaGraphConditionalHandle handle, unsigned* turns) {
  cudaGraphSetConditional(handle, ++*turns < 5 ? 1 : 0);
}

}  // namespace

void launched_and_waited_for() {
  const cudaStream_t one = stream();
  const cudaGraphExec_t graph = captured(one, 50, 0.05);
  for (int i = 0; i < 5; ++i) {
    const Timed timed("launch and wait");
    OK(cudaGraphLaunch(graph, one));
    OK(cudaStreamSynchronize(one));
  }
  OK(cudaGraphExecDestroy(graph));
}
// wic-prof changes what it records when the first graph is made.
void first_one_beside_a_held_kernel() {
  prepare();
  const Word word, timed_out;
  const cudaStream_t held = stream(), one = stream();
  hold(held, word, 1, &timed_out);
  const cudaGraphExec_t graph = captured(one, 3, 0.1);
  OK(cudaGraphLaunch(graph, one));
  OK(cudaStreamSynchronize(one));
  word.set();
  OK(cudaStreamSynchronize(held));
  IS(*timed_out.at, 0u);
}
void first_ones_of_four_threads_beside_launches() {
  prepare();
  std::atomic<bool> stop{false};
  std::thread launching([&] {
    const cudaStream_t one = stream();
    while (!stop) busy(one, 0);
    OK(cudaStreamSynchronize(one));
  });
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([] {
      const cudaStream_t one = stream();
      const cudaGraphExec_t graph = captured(one, 10, 0);
      for (int k = 0; k < 20; ++k) OK(cudaGraphLaunch(graph, one));
      OK(cudaStreamSynchronize(one));
    });
  }
  for (std::thread& each : all) each.join();
  stop = true;
  launching.join();
}
void many_small_graphs() {
  const cudaStream_t one = stream();
  const cudaGraphExec_t graph = captured(one, 3, 0);
  int failed = 0;
  {
    const Timed timed("500 launches", 5);
    for (int i = 0; i < 500; ++i) failed += cudaGraphLaunch(graph, one) != cudaSuccess;
    failed += cudaStreamSynchronize(one) != cudaSuccess;
  }
  IS(failed, 0);
}
void destroyed_while_it_runs() {
  const cudaStream_t one = stream();
  const cudaGraphExec_t graph = captured(one, 3, 5);
  OK(cudaGraphLaunch(graph, one));
  OK(cudaGraphExecDestroy(graph));
  OK(cudaStreamSynchronize(one));
}
void a_loop_of_the_gpu() {
  const cudaStream_t one = stream();
  unsigned* turns = nullptr;
  OK(cudaMallocManaged(&turns, sizeof *turns));
  *turns = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaGraphConditionalHandle handle{};
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  OK(cudaStreamBeginCaptureToGraph(one, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  ends_loop<<<1, 1, 0, one>>>(handle, turns);
  busy(one, 0.5);
  OK(cudaStreamEndCapture(one, nullptr));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(*turns, 5);
}
void updated() {
  const cudaStream_t one = stream();
  const cudaGraphExec_t graph = captured(one, 2, 1);
  cudaGraph_t changed = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  busy(one, 2);
  busy(one, 3);
  OK(cudaStreamEndCapture(one, &changed));
  cudaGraphExecUpdateResultInfo info{};
  OK(cudaGraphExecUpdate(graph, changed, &info));
  IS(info.result, cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(graph, one));
  OK(cudaStreamSynchronize(one));
}
void update_that_does_not_fit() {
  const cudaStream_t one = stream();
  const cudaGraphExec_t graph = captured(one, 2, 1);
  cudaGraph_t other = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  busy(one, 2);
  OK(cudaStreamEndCapture(one, &other));
  cudaGraphExecUpdateResultInfo info{};
  IS(cudaGraphExecUpdate(graph, other, &info), cudaErrorGraphExecUpdateFailure);
  IS(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  IS(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);
  OK(cudaGraphLaunch(graph, one));
  OK(cudaStreamSynchronize(one));
}
void memory_nodes() {
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  unsigned* memory = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  OK(cudaMallocAsync(&memory, 1 << 20, one));
  OK(cudaMemsetAsync(memory, 0, 1 << 20, one));
  add_kernel<<<1, 1, 0, one>>>(memory, 3);
  OK(cudaFreeAsync(memory, one));
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
}
void nodes_by_hand() {
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaGraphNode_t kernel = nullptr, host = nullptr;
  static std::atomic<int> seen{0};
  unsigned long long ns = 2'000'000;
  void* arguments[] = {&ns};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(busy_kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaHostNodeParams call{[](void*) { ++seen; }, nullptr};
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params));
  OK(cudaGraphAddHostNode(&host, graph, &kernel, 1, &call));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphLaunch(made, one));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(seen.load(), 2);
}
// A stream that joins the capture by an event, and leaves it by another.
void forked_capture() {
  const cudaStream_t one = stream(), two = stream();
  const cudaEvent_t fork = event(), join = event();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  std::size_t nodes = 0;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(fork, one));
  OK(cudaStreamWaitEvent(two, fork));
  busy(two, 1);
  OK(cudaEventRecord(join, two));
  busy(one, 1);
  OK(cudaStreamWaitEvent(one, join));
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  IS(nodes, 2);
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
}
void unjoined_capture() {
  const cudaStream_t one = stream(), two = stream();
  const cudaEvent_t fork = event();
  cudaGraph_t graph = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(fork, one));
  OK(cudaStreamWaitEvent(two, fork));
  busy(two, 1);
  IS(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureUnjoined);
  IS(cudaGetLastError(), cudaErrorStreamCaptureUnjoined);
  busy(two, 1);
  OK(cudaStreamSynchronize(two));
}
// What the program has the graph own goes with the graph.
void object_of_the_users() {
  static std::atomic<int> gone{0};
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaUserObject_t object = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  busy(one, 1);
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaUserObjectCreate(
      &object, nullptr, [](void*) { ++gone; }, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(gone.load(), 0);
  OK(cudaGraphExecDestroy(made));
  until([&] { return gone == 1; });
}
void graphs_in_a_graph() {
  const cudaStream_t one = stream();
  cudaGraph_t inner = nullptr, outer = nullptr, copy = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  const Word word;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  add_kernel<<<1, 1, 0, one>>>(const_cast<unsigned*>(word.at), 1);
  OK(cudaStreamEndCapture(one, &inner));
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, inner));
  OK(cudaGraphAddChildGraphNode(&second, outer, &first, 1, inner));
  OK(cudaGraphClone(&copy, outer));
  OK(cudaGraphDestroy(outer));
  OK(cudaGraphInstantiate(&made, copy, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(*word.at, 6u);
}

#define Q(name) \
  { #name, name }
QUESTIONS({{"launched_and_waited_for", launched_and_waited_for, 0, true},
           Q(first_one_beside_a_held_kernel),
           Q(first_ones_of_four_threads_beside_launches),
           {"many_small_graphs", many_small_graphs, 0, true},
           Q(destroyed_while_it_runs),
           Q(a_loop_of_the_gpu),
           Q(updated),
           Q(update_that_does_not_fit),
           Q(memory_nodes),
           Q(nodes_by_hand),
           Q(forked_capture),
           Q(unjoined_capture),
           Q(object_of_the_users),
           Q(graphs_in_a_graph)})
