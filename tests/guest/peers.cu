// Several GPUs: each is waited for by itself, from wherever.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {

struct Gpu {
  int number;
  cudaStream_t one = nullptr;
  explicit Gpu(int which) : number(which) {
    use();
    prepare();  // its kernels are loaded
    one = stream();
  }
  void use() const {
    if (cudaSetDevice(number) != cudaSuccess) std::_Exit(97);
  }
  void busy_for(double ms) const {
    use();
    busy(one, ms);
  }
};

}  // namespace

void waited_for_while_the_other_is_current() {
  const Gpu first(0), second(1);
  for (int i = 0; i < 3; ++i) {
    second.busy_for(5);
    first.use();
    OK(cudaStreamSynchronize(second.one));
    OK(cudaStreamQuery(second.one));
    int current = -1;
    OK(cudaGetDevice(&current));
    IS(current, 0);
  }
}
void device_wait_is_for_one() {
  const Gpu first(0), second(1);
  const Word word;
  second.use();
  hold(second.one, word);
  first.busy_for(5);
  OK(cudaDeviceSynchronize());
  IS(cudaStreamQuery(second.one), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(second.one));
}
void event_of_the_other() {
  const Gpu first(0), second(1);
  second.use();
  const cudaEvent_t behind = event();
  second.busy_for(5);
  OK(cudaEventRecord(behind, second.one));
  first.use();
  OK(cudaStreamWaitEvent(first.one, behind));
  first.busy_for(1);
  OK(cudaEventSynchronize(behind));
  OK(cudaStreamSynchronize(first.one));
  IS(cudaEventRecord(behind, first.one), cudaErrorInvalidResourceHandle);
  IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}
void one_releases_the_other() {
  const Gpu first(0), second(1);
  const Word word, timed_out;
  cudaError_t of_other = cudaErrorUnknown;
  first.use();
  hold(first.one, word, 1, &timed_out);
  std::thread other([&] {
    pause_ms(10);
    second.use();
    set(second.one, word);
    of_other = cudaStreamSynchronize(second.one);
  });
  OK(cudaStreamSynchronize(first.one));
  other.join();
  OK(of_other);
  IS(*timed_out.at, 0);
}
void peer_copies() {
  const Gpu first(0), second(1);
  unsigned *from = nullptr, *to = nullptr, back = 0;
  second.use();
  OK(cudaMalloc(&to, 64));
  first.use();
  OK(cudaMalloc(&from, 64));
  busy(first.one, 5);
  set_kernel<<<1, 1, 0, first.one>>>(from, 7);
  OK(cudaMemcpyPeerAsync(to, 1, from, 0, 4, first.one));
  OK(cudaStreamSynchronize(first.one));
  OK(cudaMemcpy(&back, to, 4, cudaMemcpyDefault));
  IS(back, 7);
  OK(cudaMemcpyPeer(from, 0, to, 1, 4));
}
void peer_access() {
  const Gpu first(0), second(1);
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  say("can %d", can);
  if (can == 0) return;
  unsigned* far = nullptr;
  second.use();
  OK(cudaMalloc(&far, 64));
  OK(cudaMemset(far, 0, 64));
  first.use();
  OK(cudaDeviceEnablePeerAccess(1, 0));
  IS(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  busy(first.one, 4);
  add_kernel<<<1, 1, 0, first.one>>>(far, 3);
  OK(cudaStreamSynchronize(first.one));
  unsigned back = 0;
  OK(cudaMemcpy(&back, far, 4, cudaMemcpyDefault));
  IS(back, 3);
  IS(cudaGetLastError(), cudaErrorPeerAccessAlreadyEnabled);
}
void threads_of_two() {
  const Gpu first(0), second(1);
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([&, i] {
      (i % 2 == 0 ? first : second).use();
      const cudaStream_t own = stream();
      for (int k = 0; k < 10; ++k) {
        busy(own, 0.5);
        failed += cudaStreamSynchronize(own) != cudaSuccess;
        failed += cudaStreamQuery(own) != cudaSuccess;
      }
    });
  }
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
void capture_on_one_and_wait_on_the_other() {
  const Gpu first(0), second(1);
  second.use();
  const cudaStream_t waited = stream(cudaStreamDefault);
  const Word word;
  hold(waited, word);
  cudaError_t begun = cudaErrorUnknown, ended = cudaErrorUnknown;
  std::thread other([&] {
    pause_ms(10);
    first.use();
    const cudaStream_t captured = stream(cudaStreamDefault);
    cudaGraph_t graph = nullptr;
    begun = cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal);
    busy(captured, 0.1);
    word.set();
    pause_ms(10);
    ended = cudaStreamEndCapture(captured, &graph);
  });
  OK(cudaDeviceSynchronize());
  other.join();
  OK(begun);
  OK(ended);
}
// A program that uses one GPU has no context on another.
void no_context_on_the_other() {
  CUdevice other = 0;
  unsigned flags = 0;
  int active = 1;
  busy(nullptr, 5);
  OK(cudaDeviceSynchronize());
  OK(cuDeviceGet(&other, 1));
  OK(cuDevicePrimaryCtxGetState(other, &flags, &active));
  IS(active, 0);
}
void error_on_one() {
  const Gpu first(0), second(1);
  first.use();
  stray_kernel<<<1, 1, 0, first.one>>>();
  IS(cudaStreamSynchronize(first.one), cudaErrorIllegalAddress);
  second.use();
  second.busy_for(5);
  say("the other: %d", cudaStreamSynchronize(second.one));
}

#define Q(name) \
  { #name, name, 0, false, 2 }
QUESTIONS({Q(waited_for_while_the_other_is_current), Q(device_wait_is_for_one), Q(event_of_the_other),
           Q(one_releases_the_other), Q(peer_copies), Q(peer_access), Q(threads_of_two),
           Q(capture_on_one_and_wait_on_the_other), Q(no_context_on_the_other), Q(error_on_one)})
