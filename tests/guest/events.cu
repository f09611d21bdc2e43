// Events: whose record a wait waits for, what they say, and what they measure.
#include <sys/wait.h>

#include "tests/guest/gpu.h"

using namespace guest;

// A wait is for the record before it; another thread records the event anew, behind long work.
void recorded_anew() {
  const cudaStream_t one = stream();
  const cudaEvent_t awaited = event();
  for (unsigned i = 1; i <= 3; ++i) {
    static const Word word;
    cudaError_t code = cudaSuccess;
    busy(one, 40);
    OK(cudaEventRecord(awaited, one));
    std::thread other([&] {
      pause_ms(20);
      hold(one, word, i);
      code = cudaEventRecord(awaited, one);
    });
    {
      const Timed timed("wait");
      OK(cudaEventSynchronize(awaited));
    }
    other.join();
    OK(code);
    IS(cudaEventQuery(awaited), cudaErrorNotReady);
    word.set(i);
    OK(cudaEventSynchronize(awaited));
  }
}
void never_recorded() {
  const cudaEvent_t one = event();
  OK(cudaEventQuery(one));
  OK(cudaEventSynchronize(one));
  OK(cudaStreamWaitEvent(stream(), one));
  float ms = -1;
  const cudaEvent_t timing = event(cudaEventDefault);
  IS(cudaEventElapsedTime(&ms, timing, timing), cudaErrorInvalidResourceHandle);
  IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}
void blocking_event() {
  const cudaStream_t one = stream();
  const cudaEvent_t blocking = event(cudaEventBlockingSync | cudaEventDisableTiming);
  for (int i = 0; i < 3; ++i) {
    const Timed timed("wait");
    busy(one, 5);
    OK(cudaEventRecord(blocking, one));
    OK(cudaEventSynchronize(blocking));
  }
}
void timing_event_in_legacy() {
  const cudaEvent_t first = event(cudaEventDefault), second = event(cudaEventDefault);
  OK(cudaEventRecord(first));
  busy(nullptr, 5);
  OK(cudaEventRecord(second));
  OK(cudaEventSynchronize(second));
  float ms = 0;
  OK(cudaEventElapsedTime(&ms, first, second));
  IS(ms >= 5 && ms < 500, 1);  // beside other processes on the same GPU
}
// What lies between two events: nothing of ours may come there.
void elapsed_time() {
  const cudaStream_t one = stream();
  const cudaEvent_t first = event(cudaEventDefault), second = event(cudaEventDefault);
  for (int i = 0; i < 5; ++i) {
    float ms = 0;
    OK(cudaEventRecord(first, one));
    busy(one, 4);
    OK(cudaEventRecord(second, one));
    OK(cudaStreamSynchronize(one));
    OK(cudaEventElapsedTime(&ms, first, second));
    say("TIME elapsed %.4f 0.02", ms);
  }
}
void elapsed_while_not_ready() {
  const cudaStream_t one = stream();
  const Word word;
  float ms = 0;
  const cudaEvent_t first = event(cudaEventDefault), second = event(cudaEventDefault);
  OK(cudaEventRecord(first, one));
  hold(one, word);
  OK(cudaEventRecord(second, one));
  IS(cudaEventElapsedTime(&ms, first, second), cudaErrorNotReady);
  word.set();
  OK(cudaEventSynchronize(second));
  OK(cudaEventElapsedTime(&ms, first, second));
  OK(cudaGetLastError());
}
// A query that is not ready is no error that stays; neither are those of a profiler.
void last_error_after_waits() {
  const cudaStream_t one = stream();
  const cudaEvent_t event_of_it = event();
  busy(one, 5);
  OK(cudaEventRecord(event_of_it, one));
  OK(cudaEventSynchronize(event_of_it));
  OK(cudaPeekAtLastError());
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  OK(cudaPeekAtLastError());
  IS(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  OK(cudaGetLastError());
}
void destroyed_while_pending() {
  const cudaStream_t one = stream();
  const Word word;
  const cudaEvent_t gone = event(), stays = event();
  hold(one, word);
  OK(cudaEventRecord(gone, one));
  OK(cudaEventRecord(stays, one));
  OK(cudaEventDestroy(gone));
  const cudaEvent_t next = event();
  OK(cudaEventQuery(next));
  OK(cudaEventSynchronize(next));  // it is new, whatever its handle
  IS(cudaEventQuery(stays), cudaErrorNotReady);
  word.set();
  OK(cudaEventSynchronize(stays));
}
void many_events() {
  const cudaStream_t one = stream();
  int failed = 0;
  std::vector<cudaEvent_t> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(event());
    busy(one, 0.01);
    failed += cudaEventRecord(all.back(), one) != cudaSuccess;
  }
  for (const cudaEvent_t each : all) failed += cudaEventSynchronize(each) != cudaSuccess;
  for (const cudaEvent_t each : all) failed += cudaEventQuery(each) != cudaSuccess;
  for (const cudaEvent_t each : all) failed += cudaEventDestroy(each) != cudaSuccess;
  IS(failed, 0);
}
void interprocess_event() {
  const cudaStream_t one = stream();
  const cudaEvent_t shared = event(cudaEventDisableTiming | cudaEventInterprocess);
  cudaIpcEventHandle_t handle{};
  OK(cudaIpcGetEventHandle(&handle, shared));
  for (int i = 0; i < 3; ++i) {
    busy(one, 5);
    OK(cudaEventRecord(shared, one));
    OK(cudaEventSynchronize(shared));
    OK(cudaEventQuery(shared));
  }
}
// A process that began before either used CUDA waits for the other's event.
void event_of_another_process() {
  int pipes[2] = {};
  OK(pipe(pipes));
  const pid_t child = fork();
  if (child == 0) {
    cudaIpcEventHandle_t handle{};
    cudaEvent_t shared = nullptr;
    if (read(pipes[0], &handle, sizeof handle) != sizeof handle) _exit(2);
    prepare();
    if (cudaIpcOpenEventHandle(&shared, handle) != cudaSuccess) _exit(3);
    if (cudaEventSynchronize(shared) != cudaSuccess) _exit(4);
    _exit(cudaEventQuery(shared) == cudaSuccess ? 5 : 6);
  }
  prepare();
  const cudaStream_t one = stream();
  const cudaEvent_t shared = event(cudaEventDisableTiming | cudaEventInterprocess);
  cudaIpcEventHandle_t handle{};
  OK(cudaIpcGetEventHandle(&handle, shared));
  busy(one, 100);
  OK(cudaEventRecord(shared, one));
  IS(write(pipes[1], &handle, sizeof handle), static_cast<long>(sizeof handle));
  OK(cudaEventSynchronize(shared));
  int status = 0;
  IS(waitpid(child, &status, 0) == child, 1);
  IS(WEXITSTATUS(status), 5);
  close(pipes[0]);
  close(pipes[1]);
}
// One thread waits for the event in the middle of a stream; the stream goes on.
void in_the_middle() {
  const cudaStream_t one = stream();
  const cudaEvent_t middle = event();
  const Word word;
  busy(one, 5);
  OK(cudaEventRecord(middle, one));
  hold(one, word);
  OK(cudaEventSynchronize(middle));
  IS(cudaStreamQuery(one), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(one));
}
void from_eight_threads() {
  const cudaStream_t one = stream();
  const cudaEvent_t awaited = event();
  busy(one, 10);
  OK(cudaEventRecord(awaited, one));
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([&] {
      failed += cudaEventSynchronize(awaited) != cudaSuccess;
      failed += cudaEventQuery(awaited) != cudaSuccess;
    });
  }
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
// An event that asks the device for the time slows all launches while it lies behind a kernel that runs.
void launches_beside_events_of_held_streams() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // the launches must not share a queue with a kernel that is held
  prepare();
  const Word word;
  for (int i = 0; i < 8; ++i) {
    const cudaStream_t one = stream();
    hold(one, word);
    OK(cudaEventRecord(event(), one));
  }
  const cudaStream_t mine = stream();
  for (int i = 0; i < 1000; ++i) busy_kernel<<<1, 1, 0, mine>>>(0);
  {
    const Timed timed("5000 launches", 2);
    for (int i = 0; i < 5000; ++i) busy_kernel<<<1, 1, 0, mine>>>(0);
  }
  OK(cudaGetLastError());
  word.set();
  OK(cudaDeviceSynchronize());
}
void flags_that_are_none() {
  cudaEvent_t made = nullptr;
  IS(cudaEventCreateWithFlags(&made, 0x100), cudaErrorInvalidValue);
  IS(cudaEventRecord(nullptr, nullptr), cudaErrorInvalidResourceHandle);
  IS(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  IS(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
  IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}
void recorded_with_the_flag_external() {
  const cudaStream_t one = stream();
  const cudaEvent_t outside = event();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  busy(one, 5);
  OK(cudaEventRecordWithFlags(outside, one, cudaEventRecordExternal));
  OK(cudaStreamEndCapture(one, &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  OK(cudaEventQuery(outside));
  OK(cudaGraphLaunch(made, one));
  OK(cudaEventSynchronize(outside));
  OK(cudaStreamSynchronize(one));
}

QUESTIONS({
    {"recorded_anew", recorded_anew, 0, true},
    {"never_recorded", never_recorded},
    {"blocking_event", blocking_event, 0, true},
    {"timing_event_in_legacy", timing_event_in_legacy},
    {"elapsed_time", elapsed_time, 0, true},
    {"elapsed_while_not_ready", elapsed_while_not_ready},
    {"last_error_after_waits", last_error_after_waits},
    {"destroyed_while_pending", destroyed_while_pending},
    {"many_events", many_events},
    {"interprocess_event", interprocess_event},
    {"event_of_another_process", event_of_another_process, 0, false, 0},
    {"in_the_middle", in_the_middle},
    {"from_eight_threads", from_eight_threads},
    {"launches_beside_events_of_held_streams", launches_beside_events_of_held_streams, 0, true, 0},
    {"flags_that_are_none", flags_that_are_none},
    {"recorded_with_the_flag_external", recorded_with_the_flag_external},
})
