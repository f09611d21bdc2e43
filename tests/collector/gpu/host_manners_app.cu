// Waits of which the program has asked for something itself, as tests/collector/gpu/host_manners.py runs it with and
// without wic-prof: what it prints is the same in both. Each case waits for a kernel of some milliseconds.
//   host_manners_app CASE...
//     flags            the device's flags before and after a wait (cudaDeviceScheduleAuto)
//     blocking_flags   the same with cudaDeviceScheduleBlockingSync
//     blocking_event   an event with cudaEventBlockingSync
//     blocking_stream  a stream with the blocking synchronization policy
//     capture          a wait while another thread captures a stream, in the strictest mode
//     captured         waits for a stream that is being captured, which are errors, and the capture afterwards
//     callback         a wait within a function that a stream calls on the host, which is an error
//     per_thread       the per-thread default stream (this file is compiled without it: by its handle)
//     copies           copies to the host of one to three dimensions, which wait if the memory is not pinned; also
//                      while another stream is captured, and within a capture
//     other_copies     those to the device and between memory of the host; and to memory that is pinned meanwhile
//     contexts         two contexts of the driver, each waited for from the other one
//     threads          eight threads with a stream each
//     two_gpus         one thread and two GPUs: each is waited for while the other is the thread's own, and while the
//                      other one is at work, which lasts until the wait has ended
//     gpu_threads      two threads for each of two GPUs, which wait for each other's events, too
//     blocking_gpu     waits for a second GPU alone, whose flags are cudaDeviceScheduleBlockingSync
//     failed           waits after a kernel that traps, and for a handle that is none
//     fork             a child that exits without CUDA, between two waits
//     gpus             none: prints the number of GPUs
// Prints a line per case. Knows nothing of wic-prof.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/gpu/busy.h"
#include "tests/collector/gpu/host_manners.h"

namespace {

__global__ void trap() { asm volatile("trap;"); }

unsigned flags_now() {
  unsigned flags = 0, driver = 0;
  cudaGetDeviceFlags(&flags);
  cuCtxGetFlags(&driver);
  return flags << 16 | driver;
}

void flags() {
  const cudaStream_t stream = new_stream();
  const unsigned before = flags_now();
  for (int i = 0; i < 3; ++i) {
    busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  std::printf("flags %x, then %x\n", before, flags_now());
}

void blocking_event() {
  const cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming), "cudaEventCreateWithFlags");
  for (int i = 0; i < 3; ++i) {
    busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
    check(cudaEventRecord(event, stream), "cudaEventRecord");
    check(cudaEventSynchronize(event), "cudaEventSynchronize");
  }
  std::printf("blocking event\n");
}

void blocking_stream() {
  const cudaStream_t stream = new_stream();
  cudaStreamAttrValue policy{};
  policy.syncPolicy = cudaSyncPolicyBlockingSync;
  check(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &policy), "cudaStreamSetAttribute");
  for (int i = 0; i < 3; ++i) {
    busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  policy = {};
  check(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &policy), "cudaStreamGetAttribute");
  std::printf("policy %d\n", static_cast<int>(policy.syncPolicy));
}

// Another thread captures from before the wait until after it: a query in that mode would end its capture.
void capture() {
  const cudaStream_t waits = new_stream(), captured = new_stream();
  std::atomic<int> state{0};
  std::size_t nodes = 0;
  cudaError_t ended = cudaSuccess;
  std::thread other([&] {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    busy<<<1, 1, 0, captured>>>(1000, nullptr);
    state = 1;
    while (state != 2) usleep(100);
    busy<<<1, 1, 0, captured>>>(1000, nullptr);
    ended = cudaStreamEndCapture(captured, &graph);
    if (graph != nullptr) check(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  });
  while (state != 1) usleep(100);
  busy<<<1, 1, 0, waits>>>(kKernel, nullptr);
  const cudaError_t waited = cudaStreamSynchronize(waits);
  state = 2;
  other.join();
  std::printf("capture: wait %s, end %s, %zu nodes\n", cudaGetErrorName(waited), cudaGetErrorName(ended), nodes);
  cudaGetLastError();
}

void captured() {
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  busy<<<1, 1, 0, stream>>>(1000, nullptr);
  const cudaError_t waited = cudaStreamSynchronize(stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  std::printf("captured: wait %s, end %s, graph %d\n", cudaGetErrorName(waited), cudaGetErrorName(ended),
              graph != nullptr);
  cudaGetLastError();
}

void callback() {
  struct State {
    cudaStream_t other;
    std::atomic<int> result{-1};
  };
  static State state;
  const cudaStream_t stream = new_stream();
  state.other = new_stream();
  busy<<<1, 1, 0, state.other>>>(kKernel, nullptr);
  check(cudaLaunchHostFunc(
            stream, [](void*) { state.result = static_cast<int>(cudaStreamSynchronize(state.other)); }, nullptr),
        "cudaLaunchHostFunc");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check(cudaStreamSynchronize(state.other), "cudaStreamSynchronize");
  std::printf("within a callback: %s\n", cudaGetErrorName(static_cast<cudaError_t>(state.result.load())));
}

void per_thread(unsigned* count) {
  unsigned seen = 0;
  for (int i = 0; i < 3; ++i) {
    busy<<<1, 1, 0, cudaStreamPerThread>>>(kKernel, count);
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  }
  check(cudaMemcpyAsync(&seen, count, sizeof seen, cudaMemcpyDeviceToHost, cudaStreamPerThread), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  std::printf("per thread: %u kernels\n", seen);
}

// By the driver alone. The work is a host function, since modules belong to their context.
void contexts() {
  CUdevice device = 0;
  CUcontext before = nullptr, made[2] = {};
  CUstream streams[2] = {};
  CUevent events[2] = {};
  cuCtxGetCurrent(&before);
  cuDeviceGet(&device, 0);
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    failed += cuCtxCreate(&made[i], nullptr, i == 0 ? CU_CTX_SCHED_SPIN : CU_CTX_SCHED_BLOCKING_SYNC, device) != 0;
    failed += cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) != 0;
    failed += cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING) != 0;
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 2; ++i) {
      cuCtxSetCurrent(made[i]);
      failed += cuLaunchHostFunc(
                    streams[i], [](void*) { usleep(4000); }, nullptr) != 0;
      failed += cuEventRecord(events[i], streams[i]) != 0;
    }
    for (int i = 0; i < 2; ++i) {
      cuCtxSetCurrent(made[1 - i]);  // a stream and an event may be waited for from another context
      failed += cuStreamSynchronize(streams[i]) != 0;
      failed += cuEventSynchronize(events[i]) != 0;
      failed += cuEventQuery(events[i]) != 0;
      cuCtxSetCurrent(made[i]);
      failed += cuCtxSynchronize() != 0;
    }
  }
  unsigned seen[2] = {};
  for (int i = 0; i < 2; ++i) {
    cuCtxSetCurrent(made[i]);
    cuCtxGetFlags(&seen[i]);
    cuCtxDestroy(made[i]);
  }
  cuCtxSetCurrent(before);
  std::printf("contexts: %d failures, flags %x and %x\n", failed, seen[0], seen[1]);
}

void threads(unsigned* count) {
  check(cudaMemset(count, 0, sizeof(unsigned)), "cudaMemset");
  std::vector<std::thread> all;
  std::atomic<int> failed{0};
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([&, t] {
      const cudaStream_t stream = new_stream();
      for (int i = 0; i < 20; ++i) {
        busy<<<1, 1, 0, stream>>>(200'000 + 100'000ull * static_cast<unsigned>(t), count);
        failed += cudaStreamSynchronize(stream) != cudaSuccess;
        failed += cudaStreamQuery(stream) != cudaSuccess;  // the wait ended no earlier than its work
      }
    });
  }
  for (std::thread& one : all) one.join();
  unsigned seen = 0;
  check(cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("threads: %d failures, %u kernels\n", failed.load(), seen);
}

/// Runs until the word in host memory is set, at most two seconds.
__global__ void hold(const volatile unsigned* word) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*word == 0 && now - begin < 2'000'000'000);
}

struct Gpu {
  int number = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  unsigned* count = nullptr;

  explicit Gpu(int which) : number(which) {
    use();
    stream = new_stream();
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaMalloc(&count, sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(count, 0, sizeof(unsigned)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  void use() const { check(cudaSetDevice(number), "cudaSetDevice"); }
  void launch(unsigned long long ns = kKernel) const {
    use();
    busy<<<1, 1, 0, stream>>>(ns, count);
    check(cudaEventRecord(event, stream), "cudaEventRecord");
  }
  unsigned counted() const {
    unsigned seen = 0;
    use();
    check(cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return seen;
  }
};

void two_gpus() {
  const Gpu gpus[2] = {Gpu(0), Gpu(1)};
  int failed = 0, met = 0;
  const auto expect = [&](cudaError_t result, cudaError_t wanted = cudaSuccess) { failed += result != wanted; };
  for (int turn = 0; turn < 3; ++turn) {
    for (const Gpu& gpu : gpus) gpu.launch();
    for (const Gpu& gpu : gpus) {
      gpus[1 - gpu.number].use();  // a stream and an event may be waited for while another GPU is the thread's own
      expect(cudaStreamSynchronize(gpu.stream));
      expect(cudaStreamQuery(gpu.stream));
      expect(cudaEventSynchronize(gpu.event));
    }
    for (const Gpu& gpu : gpus) {
      gpu.launch();
      expect(cudaDeviceSynchronize());
      expect(cudaStreamQuery(gpu.stream));
    }
  }
  // One GPU's stream waits for the other's event.
  gpus[0].launch();
  gpus[1].use();
  expect(cudaStreamWaitEvent(gpus[1].stream, gpus[0].event));
  gpus[1].launch();
  expect(cudaStreamSynchronize(gpus[1].stream));
  expect(cudaEventQuery(gpus[0].event));
  // The other GPU's work goes on until the wait has ended.
  unsigned* word = nullptr;
  check(cudaHostAlloc(&word, sizeof *word, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
  *word = 1;
  for (const Gpu& gpu : gpus) {  // both GPUs have loaded the kernel then
    gpu.use();
    hold<<<1, 1, 0, gpu.stream>>>(word);
    expect(cudaDeviceSynchronize());
  }
  for (const Gpu& gpu : gpus) {
    const Gpu& other = gpus[1 - gpu.number];
    for (int what = 0; what < 3; ++what) {
      *static_cast<volatile unsigned*>(word) = 0;
      other.use();
      hold<<<1, 1, 0, other.stream>>>(word);
      gpu.launch();
      if (what == 0) expect(cudaDeviceSynchronize());
      if (what == 1) expect(cudaStreamSynchronize(gpu.stream));
      if (what == 2) expect(cudaEventSynchronize(gpu.event));
      expect(cudaStreamQuery(other.stream), cudaErrorNotReady);
      met += cudaStreamQuery(gpu.stream) == cudaSuccess;
      *static_cast<volatile unsigned*>(word) = 1;
      other.use();
      expect(cudaStreamSynchronize(other.stream));
    }
  }
  unsigned seen[2] = {};
  for (const Gpu& gpu : gpus) {
    gpu.use();
    cudaGetDeviceFlags(&seen[gpu.number]);
  }
  std::printf("two GPUs: %d failures, %d apart, %u and %u kernels, flags %x and %x\n", failed, met, gpus[0].counted(),
              gpus[1].counted(), seen[0], seen[1]);
  gpus[0].use();
}

void gpu_threads() {
  const std::vector<Gpu> gpus{Gpu(0), Gpu(1), Gpu(0), Gpu(1)};
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < gpus.size(); ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        gpus[t].launch(200'000 + 100'000ull * t);
        failed += cudaStreamSynchronize(gpus[t].stream) != cudaSuccess;
        failed += cudaStreamQuery(gpus[t].stream) != cudaSuccess;  // the wait ended no earlier than its work
        failed += cudaEventSynchronize(gpus[(t + 1) % gpus.size()].event) != cudaSuccess;  // of the other GPU
        if (i % 5 == 0) failed += cudaDeviceSynchronize() != cudaSuccess;
      }
    });
  }
  for (std::thread& one : all) one.join();
  std::printf("threads of two GPUs: %d failures, kernels", failed.load());
  for (const Gpu& gpu : gpus) std::printf(" %u", gpu.counted());
  std::printf("\n");
  gpus[0].use();
}

void blocking_gpu() {
  check(cudaSetDevice(1), "cudaSetDevice");
  check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "cudaSetDeviceFlags");
  const Gpu gpu(1);
  int failed = 0;
  for (int i = 0; i < 3; ++i) {
    gpu.launch();
    check(cudaSetDevice(0), "cudaSetDevice");
    failed += cudaStreamSynchronize(gpu.stream) != cudaSuccess;
    gpu.launch();
    failed += cudaDeviceSynchronize() != cudaSuccess;
    failed += cudaStreamQuery(gpu.stream) != cudaSuccess;
  }
  unsigned seen[2] = {};
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cudaGetDeviceFlags(&seen[i]);
  }
  check(cudaSetDevice(0), "cudaSetDevice");
  std::printf("a blocking GPU: %d failures, flags %x and %x\n", failed, seen[0], seen[1]);
}

void fork_between() {
  const cudaStream_t stream = new_stream();
  busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  waitpid(child, &status, 0);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::printf("fork: child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

// The last: the context is of no use afterwards.
void failed() {
  const cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  busy<<<1, 1, 0, stream>>>(kKernel, nullptr);
  trap<<<1, 1, 0, stream>>>();
  const cudaError_t first = cudaStreamSynchronize(stream), second = cudaEventSynchronize(event),
                    third = cudaDeviceSynchronize();
  std::printf("failed: %s, %s, %s\n", cudaGetErrorName(first), cudaGetErrorName(second), cudaGetErrorName(third));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  unsigned* count = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string what = argv[i];
    if (what == "gpus") {
      int gpus = 0;
      check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
      std::printf("%d\n", gpus);
      continue;
    }
    if (what == "blocking_flags") check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "cudaSetDeviceFlags");
    if (count == nullptr) {
      check(cudaMalloc(&count, sizeof(unsigned)), "cudaMalloc");
      check(cudaMemset(count, 0, sizeof(unsigned)), "cudaMemset");
    }
    if (what == "flags" || what == "blocking_flags") flags();
    if (what == "blocking_event") blocking_event();
    if (what == "blocking_stream") blocking_stream();
    if (what == "capture") capture();
    if (what == "captured") captured();
    if (what == "callback") callback();
    if (what == "per_thread") per_thread(count);
    if (what == "copies") copies(count);
    if (what == "other_copies") other_copies(count);
    if (what == "contexts") contexts();
    if (what == "threads") threads(count);
    if (what == "two_gpus") two_gpus();
    if (what == "gpu_threads") gpu_threads();
    if (what == "blocking_gpu") blocking_gpu();
    if (what == "fork") fork_between();
    if (what == "failed") failed();
  }
  return 0;
}
