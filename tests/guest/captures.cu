// Captures of each mode beside waits: what is refused, with which code, and what becomes of the capture.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {

__device__ int symbol;

/// Ends the capture and says what it is.
void ends(cudaStream_t captured, int code, std::size_t nodes) {
  cudaGraph_t graph = nullptr;
  std::size_t count = 0;
  IS(cudaStreamEndCapture(captured, &graph), code);
  if (graph != nullptr) {
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    OK(cudaGraphDestroy(graph));
  }
  IS(count, nodes);
}

/// Another thread captures for as long as the object lives.
class Capturing {
 public:
  Capturing(cudaStreamCaptureMode mode, unsigned flags, int code, std::size_t nodes) {
    thread_ = std::thread([=, this] {
      const cudaStream_t captured = stream(flags);
      OK(cudaStreamBeginCapture(captured, mode));
      busy(captured, 0.1);
      state_ = 1;
      until([&] { return state_ == 2; });
      busy(captured, 0.1);
      cudaGetLastError();
      ends(captured, code, nodes);
      cudaGetLastError();
    });
    until([&] { return state_ == 1; });
  }
  ~Capturing() {
    state_ = 2;
    thread_.join();
  }

 private:
  std::atomic<int> state_{0};
  std::thread thread_;
};

/// A capture begins while this thread waits; the wait ends only then.
template <class Wait>
void begun_meanwhile(cudaStreamCaptureMode mode, unsigned flags, Wait wait) {
  const cudaStream_t waited = stream(cudaStreamDefault);
  const Word word;
  hold(waited, word);
  std::thread other([&] {
    pause_ms(20);
    const cudaStream_t captured = stream(flags);
    OK(cudaStreamBeginCapture(captured, mode));
    busy(captured, 0.1);
    pause_ms(20);
    word.set();
    pause_ms(20);
    busy(captured, 0.1);
    ends(captured, 0, 2);
  });
  wait(waited);
  other.join();
  OK(cudaGetLastError());
}

}  // namespace

// Of the captured stream itself.
void wait_for_the_captured_stream() {
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    const cudaStream_t captured = stream();
    OK(cudaStreamBeginCapture(captured, mode));
    busy(captured, 0.1);
    IS(cudaStreamSynchronize(captured), cudaErrorStreamCaptureUnsupported);
    IS(cudaStreamSynchronize(captured), cudaErrorStreamCaptureUnsupported);
    ends(captured, cudaErrorStreamCaptureInvalidated, 0);
    IS(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamSynchronize(captured));
  }
}
void query_of_the_captured_stream() {
  const cudaStream_t captured = stream();
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  IS(cudaStreamQuery(captured), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
// By the capturing thread, for another stream.
void wait_in_a_relaxed_capture() {
  const cudaStream_t captured = stream(), waited = stream();
  busy(waited, 5);
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  busy(captured, 0.1);
  OK(cudaStreamSynchronize(waited));
  ends(captured, 0, 1);
}
void wait_in_a_thread_local_capture() {
  const cudaStream_t captured = stream(), waited = stream();
  busy(waited, 5);
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
  busy(captured, 0.1);
  IS(cudaStreamSynchronize(waited), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void wait_in_a_global_capture() {
  const cudaStream_t captured = stream(), waited = stream();
  busy(waited, 5);
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  busy(captured, 0.1);
  IS(cudaStreamSynchronize(waited), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void event_wait_in_a_thread_local_capture() {
  const cudaStream_t captured = stream(), waited = stream();
  const cudaEvent_t behind = event();
  busy(waited, 5);
  OK(cudaEventRecord(behind, waited));
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
  busy(captured, 0.1);
  IS(cudaEventSynchronize(behind), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void device_wait_in_a_relaxed_capture() {
  const cudaStream_t captured = stream();
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  busy(captured, 0.1);
  IS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void device_wait_in_a_thread_local_capture() {
  const cudaStream_t captured = stream();
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
  busy(captured, 0.1);
  IS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void legacy_wait_in_a_capture_of_a_blocking_stream() {
  const cudaStream_t captured = stream(cudaStreamDefault);
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  busy(captured, 0.1);
  IS(cudaStreamSynchronize(nullptr), cudaErrorStreamCaptureImplicit);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
void legacy_launch_in_a_capture_of_a_blocking_stream() {
  const cudaStream_t captured = stream(cudaStreamDefault);
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  busy(captured, 0.1);
  busy(nullptr, 0.1);
  IS(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  cudaGetLastError();
}
// For an event that the capture recorded.
void wait_for_a_captured_event() {
  const cudaStream_t captured = stream();
  const cudaEvent_t inside = event();
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
  busy(captured, 0.1);
  OK(cudaEventRecord(inside, captured));
  IS(cudaEventSynchronize(inside), cudaErrorCapturedEvent);
  ends(captured, cudaErrorStreamCaptureInvalidated, 0);
  IS(cudaEventSynchronize(inside), cudaErrorInvalidValue);
  IS(cudaEventQuery(inside), cudaErrorInvalidValue);
  cudaGetLastError();
}

// Another thread captures all the while.
void wait_beside_a_thread_local_capture() {
  const cudaStream_t waited = stream();
  busy(waited, 5);
  const Capturing capturing(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking, 0, 2);
  OK(cudaStreamSynchronize(waited));
}
void wait_beside_a_relaxed_capture() {
  const cudaStream_t waited = stream();
  const cudaEvent_t behind = event();
  busy(waited, 5);
  OK(cudaEventRecord(behind, waited));
  const Capturing capturing(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking, 0, 2);
  OK(cudaEventSynchronize(behind));
  OK(cudaStreamSynchronize(waited));
  busy(waited, 5);
  OK(cudaStreamSynchronize(waited));
}
void copy_beside_a_thread_local_capture() {
  const cudaStream_t waited = stream();
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 4096));
  std::vector<char> to(4096);
  busy(waited, 5);
  {
    const Capturing capturing(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking, 0, 2);
    OK(cudaMemcpyAsync(to.data(), memory, to.size(), cudaMemcpyDeviceToHost, waited));
  }
  OK(cudaFree(memory));
}

// Another thread begins to capture while this one waits.
void begun_in_a_legacy_wait() {
  begun_meanwhile(cudaStreamCaptureModeThreadLocal, cudaStreamDefault,
                  [](cudaStream_t) { OK(cudaStreamSynchronize(nullptr)); });
}
void begun_in_a_device_wait() {
  begun_meanwhile(cudaStreamCaptureModeThreadLocal, cudaStreamDefault,
                  [](cudaStream_t) { OK(cudaDeviceSynchronize()); });
}
void begun_in_a_stream_wait() {
  begun_meanwhile(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking,
                  [](cudaStream_t waited) { OK(cudaStreamSynchronize(waited)); });
}
void begun_globally_in_a_stream_wait() {
  begun_meanwhile(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking,
                  [](cudaStream_t waited) { OK(cudaStreamSynchronize(waited)); });
}
void begun_globally_in_a_legacy_wait() {
  begun_meanwhile(cudaStreamCaptureModeGlobal, cudaStreamDefault,
                  [](cudaStream_t) { OK(cudaStreamSynchronize(nullptr)); });
}
void begun_globally_in_a_device_wait() {
  begun_meanwhile(cudaStreamCaptureModeGlobal, cudaStreamDefault, [](cudaStream_t) { OK(cudaDeviceSynchronize()); });
}
// After waits beside which nobody else began anything.
void begun_globally_in_a_later_device_wait() {
  const cudaStream_t one = stream();
  for (int i = 0; i < 4; ++i) {
    busy(one, 3);
    OK(cudaDeviceSynchronize());
  }
  begun_globally_in_a_device_wait();
}
void begun_globally_in_a_copy() {
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 4096));
  std::vector<char> to(4096);
  begun_meanwhile(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking, [&](cudaStream_t waited) {
    OK(cudaMemcpyAsync(to.data(), memory, to.size(), cudaMemcpyDeviceToHost, waited));
  });
  OK(cudaFree(memory));
}
void begun_globally_in_an_event_wait() {
  begun_meanwhile(cudaStreamCaptureModeGlobal, cudaStreamDefault, [](cudaStream_t waited) {
    const cudaEvent_t behind = event();
    OK(cudaEventRecord(behind, waited));
    OK(cudaEventSynchronize(behind));
  });
}
void begun_relaxed_in_a_legacy_wait() {
  begun_meanwhile(cudaStreamCaptureModeRelaxed, cudaStreamDefault,
                  [](cudaStream_t) { OK(cudaStreamSynchronize(nullptr)); });
}
void begun_in_a_legacy_copy() {
  begun_meanwhile(cudaStreamCaptureModeThreadLocal, cudaStreamDefault, [](cudaStream_t) {
    static int value = 0;
    OK(cudaMemcpyFromSymbol(&value, symbol, sizeof value));
  });
}

// The program changes what the capture has seen so far.
void dependencies_set_by_hand() {
  const cudaStream_t captured = stream();
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
  busy(captured, 0.1);
  OK(cudaStreamGetCaptureInfo(captured, &status, &id, &graph, &last, &edges, &count));
  IS(status, cudaStreamCaptureStatusActive);
  IS(count, 1u);
  cudaGraphNode_t empty = nullptr;
  OK(cudaGraphAddEmptyNode(&empty, graph, last, count));
  OK(cudaStreamUpdateCaptureDependencies(captured, &empty, nullptr, 1, cudaStreamSetCaptureDependencies));
  busy(captured, 0.1);
  ends(captured, 0, 3);
}
// The stream that is waited for becomes the captured one.
void begun_in_the_waited_stream() {
  const cudaStream_t waited = stream();
  const Word word;
  hold(waited, word);
  std::thread other([&] {
    pause_ms(20);
    OK(cudaStreamBeginCapture(waited, cudaStreamCaptureModeThreadLocal));
    busy(waited, 0.1);
    pause_ms(10);
    word.set();
    pause_ms(20);
    ends(waited, 0, 1);
  });
  OK(cudaStreamSynchronize(waited));
  other.join();
  OK(cudaGetLastError());
}

// The thread's own way to allow calls stays as it set it.
void the_threads_mode_stays() {
  const cudaStream_t waited = stream();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  IS(mode, cudaStreamCaptureModeGlobal);
  busy(waited, 5);
  OK(cudaStreamSynchronize(waited));
  mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  IS(mode, cudaStreamCaptureModeThreadLocal);
}
void allocation_beside_a_thread_local_capture() {
  const Capturing capturing(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking, 0, 2);
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 64));
  OK(cudaFree(memory));
}
void captured_copies() {
  const cudaStream_t captured = stream();
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 4096));
  static char pageable[4096];
  OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
  OK(cudaMemcpyAsync(memory, pageable, sizeof pageable, cudaMemcpyHostToDevice, captured));
  OK(cudaMemcpyAsync(pageable, memory, sizeof pageable, cudaMemcpyDeviceToHost, captured));
  OK(cudaMemsetAsync(memory, 0, 64, captured));
  ends(captured, 0, 3);
}
void many_captures_and_launches() {
  const cudaStream_t one = stream();
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    failed += cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal) != cudaSuccess;
    for (int k = 0; k < 5; ++k) busy(one, 0.05);
    failed += cudaStreamEndCapture(one, &graph) != cudaSuccess;
    failed += cudaGraphInstantiate(&made, graph, 0) != cudaSuccess;
    failed += cudaGraphLaunch(made, one) != cudaSuccess;
    failed += cudaStreamSynchronize(one) != cudaSuccess;
    failed += cudaGraphExecDestroy(made) != cudaSuccess;
    failed += cudaGraphDestroy(graph) != cudaSuccess;
  }
  IS(failed, 0);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(wait_for_the_captured_stream),
           Q(query_of_the_captured_stream),
           Q(wait_in_a_relaxed_capture),
           Q(wait_in_a_thread_local_capture),
           Q(wait_in_a_global_capture),
           Q(event_wait_in_a_thread_local_capture),
           Q(device_wait_in_a_relaxed_capture),
           Q(device_wait_in_a_thread_local_capture),
           Q(legacy_wait_in_a_capture_of_a_blocking_stream),
           Q(legacy_launch_in_a_capture_of_a_blocking_stream),
           Q(wait_for_a_captured_event),
           Q(wait_beside_a_thread_local_capture),
           Q(wait_beside_a_relaxed_capture),
           Q(copy_beside_a_thread_local_capture),
           Q(begun_in_a_legacy_wait),
           Q(begun_in_a_device_wait),
           Q(begun_in_a_stream_wait),
           Q(begun_globally_in_a_stream_wait),
           Q(begun_globally_in_a_legacy_wait),
           Q(begun_globally_in_a_device_wait),
           Q(begun_globally_in_a_later_device_wait),
           Q(begun_globally_in_a_copy),
           Q(begun_globally_in_an_event_wait),
           Q(begun_relaxed_in_a_legacy_wait),
           Q(begun_in_a_legacy_copy),
           Q(dependencies_set_by_hand),
           Q(begun_in_the_waited_stream),
           Q(the_threads_mode_stays),
           Q(allocation_beside_a_thread_local_capture),
           Q(captured_copies),
           Q(many_captures_and_launches)})
