// Functions that a stream calls on the host.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {
std::atomic<int> seen{0}, code{-1}, second_code{-1};
cudaStream_t apart = nullptr;
}  // namespace

void sets_a_flag() {
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaLaunchHostFunc(one, [](void*) { seen = 1; }, nullptr));
  OK(cudaStreamSynchronize(one));
  IS(seen.load(), 1);
}
void runs_long() {
  const cudaStream_t one = stream();
  OK(cudaLaunchHostFunc(one, [](void*) {
    pause_ms(20);
    seen = 1;
  }, nullptr));
  {
    const Timed timed("wait");
    OK(cudaStreamSynchronize(one));
  }
  IS(seen.load(), 1);
}
// Calls of CUDA in one are refused: those of a profiler in its place, too.
void waits_for_a_stream() {
  const cudaStream_t one = stream();
  apart = stream();
  busy(apart, 5);
  OK(cudaLaunchHostFunc(one, [](void*) { code = cudaStreamSynchronize(apart); }, nullptr));
  OK(cudaStreamSynchronize(one));
  IS(code.load(), cudaErrorNotPermitted);
  OK(cudaStreamSynchronize(apart));
}
void launches() {
  const cudaStream_t one = stream();
  apart = stream();
  OK(cudaLaunchHostFunc(one, [](void*) {
    busy(apart, 1);
    code = cudaGetLastError();
    second_code = cudaDeviceSynchronize();
  }, nullptr));
  OK(cudaStreamSynchronize(one));
  IS(code.load(), cudaErrorNotPermitted);
  IS(second_code.load(), cudaErrorNotPermitted);
  OK(cudaStreamSynchronize(apart));
}
// The thread that waits holds nothing that the host function needs.
void needs_another_thread() {
  const cudaStream_t one = stream();
  apart = stream();
  OK(cudaLaunchHostFunc(one, [](void*) { until([] { return seen == 1; }); }, nullptr));
  std::thread other([] {
    pause_ms(10);
    busy(apart, 1);
    OK(cudaStreamSynchronize(apart));
    seen = 1;
  });
  OK(cudaStreamSynchronize(one));
  other.join();
}
void needs_a_thread_that_waits_for_an_event() {
  const cudaStream_t one = stream();
  apart = stream();
  const cudaEvent_t behind = event();
  OK(cudaLaunchHostFunc(one, [](void*) { until([] { return seen == 1; }); }, nullptr));
  std::thread other([&] {
    busy(apart, 10);
    OK(cudaEventRecord(behind, apart));
    OK(cudaEventSynchronize(behind));
    seen = 1;
  });
  OK(cudaDeviceSynchronize());
  other.join();
  IS(seen.load(), 1);
}
void in_their_order() {
  const cudaStream_t one = stream();
  static std::vector<int> order;
  for (int i = 0; i < 50; ++i) {
    OK(cudaLaunchHostFunc(one, [](void* which) { order.push_back(static_cast<int>(reinterpret_cast<long>(which))); },
                          reinterpret_cast<void*>(static_cast<long>(i))));
    if (i % 10 == 0) OK(cudaStreamSynchronize(one));
  }
  OK(cudaStreamSynchronize(one));
  int right = 0;
  for (int i = 0; i < static_cast<int>(order.size()); ++i) right += order[static_cast<std::size_t>(i)] == i;
  IS(right, 50);
}
void callback_with_a_status() {
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamAddCallback(one, [](cudaStream_t, cudaError_t status, void*) { code = status; }, nullptr, 0));
  OK(cudaStreamSynchronize(one));
  OK(code.load());
}
void in_a_graph() {
  const cudaStream_t one = stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  busy(one, 2);
  OK(cudaLaunchHostFunc(one, [](void*) { ++seen; }, nullptr));
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(made, one));
  OK(cudaStreamSynchronize(one));
  IS(seen.load(), 3);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(sets_a_flag), {"runs_long", runs_long, 0, true}, Q(waits_for_a_stream), Q(launches),
           Q(needs_another_thread), Q(needs_a_thread_that_waits_for_an_event), Q(in_their_order),
           Q(callback_with_a_status), Q(in_a_graph)})
