// A program that is compiled with each thread's own default stream (-default-stream per-thread): other functions of the
// driver and of the runtime wait then.
#include "tests/guest/gpu.h"

using namespace guest;

void default_stream_is_the_threads() {
  const Word word;
  std::thread other([&] {
    hold(nullptr, word);
    OK(cudaStreamSynchronize(nullptr));
  });
  pause_ms(10);
  busy(nullptr, 4);
  OK(cudaStreamSynchronize(nullptr));  // not for the other thread's
  OK(cudaStreamQuery(nullptr));
  word.set();
  other.join();
}
void driver_calls() {
  busy(nullptr, 4);
  IS(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  OK(cuStreamSynchronize(nullptr));
  OK(cuStreamQuery(nullptr));
  busy(nullptr, 4);
  OK(cuCtxSynchronize());
}
void event_in_it() {
  const cudaEvent_t behind = event();
  busy(nullptr, 4);
  OK(cudaEventRecord(behind));
  OK(cudaEventSynchronize(behind));
  OK(cudaStreamQuery(nullptr));
}
void copies_in_it() {
  unsigned *memory = nullptr, to = 0;
  const Word word;
  OK(cudaMalloc(&memory, 64));
  std::thread other([&] {
    hold(nullptr, word);
    OK(cudaStreamSynchronize(nullptr));
  });
  pause_ms(10);
  busy(nullptr, 4);
  set_kernel<<<1, 1>>>(memory, 7);
  OK(cudaMemcpy(&to, memory, 4, cudaMemcpyDeviceToHost));
  IS(to, 7);
  set_kernel<<<1, 1>>>(memory, 8);
  OK(cudaMemcpyAsync(&to, memory, 4, cudaMemcpyDeviceToHost));
  OK(cudaStreamSynchronize(nullptr));
  IS(to, 8);
  word.set();
  other.join();
}
void fed_by_nobody_else() {
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 16; ++i) {
    all.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        busy(nullptr, 0.5);
        failed += cudaStreamSynchronize(nullptr) != cudaSuccess;
        failed += cudaStreamQuery(nullptr) != cudaSuccess;
      }
    });
  }
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
void captured_by_another_thread() {
  const Word word;
  hold(nullptr, word);
  std::thread other([&] {
    pause_ms(10);
    cudaGraph_t graph = nullptr;
    OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    busy(nullptr, 0.1);
    word.set();
    pause_ms(10);
    OK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
  });
  OK(cudaStreamSynchronize(nullptr));
  other.join();
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(default_stream_is_the_threads), Q(driver_calls), Q(event_in_it), Q(copies_in_it), Q(fed_by_nobody_else),
           Q(captured_by_another_thread)})
