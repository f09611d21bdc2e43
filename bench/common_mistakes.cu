// Programs with one common mistake each, and some without: what does analyze say first (common_mistakes.py)?
//
// bench_common_mistakes --list: name, half and expected rule of each program (- : nothing is wrong)
// bench_common_mistakes NAME SECONDS: runs one
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

#define OK(call)                                                          \
  do {                                                                    \
    if (const cudaError_t error = (call); error != cudaSuccess) {         \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

constexpr int kElements = 1 << 24;

__global__ void spin(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {
  }
}
__global__ void saxpy(int count, float a, const float* x, float* y) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x))
    y[i] = a * x[i] + y[i];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
void compute_on_host(double seconds) {
  volatile double sum = 0;
  for (const double begin = now(); now() - begin < seconds;) sum = sum + 1;
}

/// What all programs have: memory, streams, and the time at which they end.
struct Setup {
  float *x = nullptr, *y = nullptr, *pinned = nullptr;
  std::vector<float> pageable = std::vector<float>(kElements);
  cudaStream_t streams[4] = {};
  double end;

  explicit Setup(double seconds) {
    OK(cudaMalloc(&x, kElements * sizeof(float)));
    OK(cudaMalloc(&y, kElements * sizeof(float)));
    OK(cudaMallocHost(&pinned, kElements * sizeof(float)));
    OK(cudaMemset(x, 0, kElements * sizeof(float)));
    OK(cudaMemset(y, 0, kElements * sizeof(float)));
    for (cudaStream_t& stream : streams) OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    end = now() + seconds;
  }
  bool goes_on() const { return now() < end; }
};

/// A kernel on all SMs of some `cycles` each.
void launch(cudaStream_t stream, long long cycles) { spin<<<1056, 256, 0, stream>>>(cycles); }

// The half on which the rules were improved.
void memory_in_the_loop(Setup& of) {
  while (of.goes_on()) {
    void* memory = nullptr;
    OK(cudaMalloc(&memory, 64 << 20));
    for (int i = 0; i < 10; ++i) launch(nullptr, 100'000);
    OK(cudaFree(memory));
  }
}
void pool_without_threshold(Setup& of) {
  while (of.goes_on()) {
    void* memory = nullptr;
    OK(cudaMallocAsync(&memory, 256 << 20, of.streams[0]));
    launch(of.streams[0], 200'000);
    OK(cudaFreeAsync(memory, of.streams[0]));
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void pageable_copies(Setup& of) {
  while (of.goes_on()) {
    OK(cudaMemcpyAsync(of.x, of.pageable.data(), kElements * 4, cudaMemcpyDefault, of.streams[0]));
    saxpy<<<264, 256, 0, of.streams[0]>>>(kElements, 2, of.x, of.y);
    OK(cudaMemcpyAsync(of.pageable.data(), of.y, kElements * 4, cudaMemcpyDefault, of.streams[0]));
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void wait_behind_each_kernel(Setup& of) {
  while (of.goes_on()) {
    spin<<<132, 64>>>(8'000);
    OK(cudaDeviceSynchronize());
  }
}
void tiny_kernels(Setup& of) {
  while (of.goes_on()) {
    for (int i = 0; i < 100; ++i) spin<<<1, 32, 0, of.streams[0]>>>(200);
  }
}
void host_work_between(Setup& of) {
  while (of.goes_on()) {
    launch(of.streams[0], 1'000'000);
    OK(cudaStreamSynchronize(of.streams[0]));
    compute_on_host(0.002);
  }
}
void slow_producer(Setup& of) {
  std::mutex mutex;
  std::condition_variable changed;
  int ready = 0;
  std::thread producer([&] {
    while (of.goes_on()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::lock_guard lock(mutex);
      ++ready;
      changed.notify_one();
    }
  });
  while (of.goes_on()) {
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return ready > 0; });
      ready = 0;
    }
    launch(of.streams[0], 500'000);
    OK(cudaStreamSynchronize(of.streams[0]));
  }
  producer.join();
}
void streams_in_a_row(Setup& of) {
  cudaEvent_t event = nullptr;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  while (of.goes_on()) {
    for (cudaStream_t stream : of.streams) {
      OK(cudaStreamWaitEvent(stream, event));
      OK(cudaMemcpyAsync(of.x, of.pinned, kElements, cudaMemcpyDefault, stream));
      launch(stream, 300'000);
      OK(cudaEventRecord(event, stream));
    }
    OK(cudaDeviceSynchronize());
  }
}
void double_buffers(Setup& of) {
  cudaEvent_t events[2] = {};
  for (cudaEvent_t& event : events)
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  for (unsigned step = 0; of.goes_on(); ++step) {
    const unsigned i = step % 2;
    OK(cudaEventSynchronize(events[i]));
    OK(cudaMemcpyAsync(i == 0 ? of.y : of.x, of.pinned + i * (kElements / 2), kElements * 2, cudaMemcpyDefault,
                       of.streams[i]));
    launch(of.streams[i], 3'000'000);
    OK(cudaEventRecord(events[i], of.streams[i]));
  }
}

void pinned_memory_in_the_loop(Setup& of) {
  while (of.goes_on()) {
    void* memory = nullptr;
    OK(cudaMallocHost(&memory, 4 << 20));
    OK(cudaMemcpyAsync(of.x, memory, 4 << 20, cudaMemcpyDefault, of.streams[0]));
    launch(of.streams[0], 200'000);
    OK(cudaFreeHost(memory));
  }
}
void registers_in_the_loop(Setup& of) {
  while (of.goes_on()) {
    OK(cudaHostRegister(of.pageable.data(), 16 << 20, cudaHostRegisterDefault));
    OK(cudaMemcpyAsync(of.x, of.pageable.data(), 16 << 20, cudaMemcpyDefault, of.streams[0]));
    launch(of.streams[0], 200'000);
    OK(cudaHostUnregister(of.pageable.data()));
  }
}
void reads_a_pipe(Setup& of) {
  std::FILE* const pipe = popen("while sleep 0.004; do echo x; done", "r");
  char line[8] = "";
  while (of.goes_on() && std::fgets(line, sizeof line, pipe) != nullptr) {
    OK(cudaMemcpyAsync(of.x, of.pinned, 1 << 20, cudaMemcpyDefault, of.streams[0]));
    launch(of.streams[0], 300'000);
    OK(cudaStreamSynchronize(of.streams[0]));
  }
  fclose(pipe);  // the shell ends at its next line
}
void function_on_the_host(Setup& of) {
  while (of.goes_on()) {
    for (int i = 0; i < 10; ++i) {
      launch(of.streams[0], 500'000);
      OK(cudaLaunchHostFunc(
          of.streams[0], [](void*) { compute_on_host(0.002); }, nullptr));
    }
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void waits_for_each_result(Setup& of) {
  while (of.goes_on()) {
    saxpy<<<264, 256, 0, of.streams[0]>>>(1 << 12, 2, of.x, of.y);
    OK(cudaMemcpyAsync(of.pinned, of.y, 4, cudaMemcpyDefault, of.streams[0]));
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void polls_a_stream(Setup& of) {
  while (of.goes_on()) {
    launch(of.streams[0], 3'000'000);
    while (cudaStreamQuery(of.streams[0]) == cudaErrorNotReady) {
    }
  }
}
void copies_and_waits(Setup& of) {
  while (of.goes_on()) {
    OK(cudaMemcpy(of.x, of.pinned, kElements * 4, cudaMemcpyDefault));
    saxpy<<<264, 256>>>(kElements, 2, of.x, of.y);
    OK(cudaMemcpy(of.pinned, of.y, kElements * 4, cudaMemcpyDefault));
  }
}
void eight_threads(Setup& of) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&of, i] {
      while (of.goes_on()) {
        spin<<<264, 256, 0, of.streams[i % 4]>>>(1'500'000);
        OK(cudaStreamSynchronize(of.streams[i % 4]));
        compute_on_host(0.0001);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
void graphs_ahead(Setup& of) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  OK(cudaStreamBeginCapture(of.streams[0], cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 20; ++i) launch(of.streams[0], 100'000);
  OK(cudaStreamEndCapture(of.streams[0], &graph));
  OK(cudaGraphInstantiate(&made, graph, 0));
  while (of.goes_on()) {
    for (int i = 0; i < 8; ++i) OK(cudaGraphLaunch(made, of.streams[0]));
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void pool_with_threshold(Setup& of) {
  cudaMemPool_t pool = nullptr;
  unsigned long long keeps = ~0ull;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps));
  while (of.goes_on()) {
    for (int i = 0; i < 10; ++i) {
      void* memory = nullptr;
      OK(cudaMallocAsync(&memory, 64 << 20, of.streams[0]));
      launch(of.streams[0], 500'000);
      OK(cudaFreeAsync(memory, of.streams[0]));
    }
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}

// The half that served nothing but this count.
template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}
void threads_in_the_default_stream(Setup& of) {
  on_threads(4, [&of](int) {
    while (of.goes_on()) {
      spin<<<64, 256>>>(1'500'000);
      OK(cudaStreamSynchronize(nullptr));
      compute_on_host(0.0001);
    }
  });
}
void copies_behind_another_threads_kernels(Setup& of) {
  on_threads(2, [&of](int i) {
    while (of.goes_on()) {
      if (i == 0) {
        launch(of.streams[0], 2'000'000);
      } else {
        OK(cudaMemcpyAsync(of.x, of.pinned, 32 << 20, cudaMemcpyDefault, of.streams[0]));
      }
      OK(cudaStreamSynchronize(of.streams[0]));
    }
  });
}
void graph_made_anew(Setup& of) {
  while (of.goes_on()) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    OK(cudaStreamBeginCapture(of.streams[0], cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 50; ++i) spin<<<132, 256, 0, of.streams[0]>>>(1'000);
    OK(cudaStreamEndCapture(of.streams[0], &graph));
    OK(cudaGraphInstantiate(&made, graph, 0));
    OK(cudaGraphLaunch(made, of.streams[0]));
    OK(cudaStreamSynchronize(of.streams[0]));
    OK(cudaGraphExecDestroy(made));
    OK(cudaGraphDestroy(graph));
  }
}
void asks_now_and_then(Setup& of) {
  cudaEvent_t event = nullptr;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  while (of.goes_on()) {
    launch(of.streams[0], 500'000);
    OK(cudaEventRecord(event, of.streams[0]));
    while (cudaEventQuery(event) == cudaErrorNotReady) usleep(2'000);
  }
}
void stream_made_anew(Setup& of) {
  while (of.goes_on()) {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    spin<<<132, 256, 0, stream>>>(5'000);
    OK(cudaEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
  }
}
void copies_number_by_number(Setup& of) {
  while (of.goes_on()) {
    for (int i = 0; i < 256; ++i) OK(cudaMemcpy(of.x + i, &of.pageable[i], sizeof(float), cudaMemcpyDefault));
    saxpy<<<1, 256>>>(256, 2, of.x, of.y);
  }
}
void few_blocks(Setup& of) {
  while (of.goes_on()) {
    for (int i = 0; i < 50; ++i) spin<<<40, 1024, 0, of.streams[0]>>>(300'000);
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}
void lock_around_all(Setup& of) {
  std::mutex mutex;
  on_threads(4, [&](int i) {
    while (of.goes_on()) {
      const std::lock_guard lock(mutex);
      compute_on_host(0.001);
      launch(of.streams[i], 500'000);
      OK(cudaStreamSynchronize(of.streams[i]));
    }
  });
}
void takes_results_home(Setup& of) {
  while (of.goes_on()) {
    launch(of.streams[0], 1'000'000);
    OK(cudaStreamSynchronize(of.streams[0]));
    OK(cudaMemcpy(of.pageable.data(), of.y, kElements * 4, cudaMemcpyDefault));
  }
}
void thread_per_stream(Setup& of) {
  on_threads(4, [&of](int i) {
    while (of.goes_on()) {
      spin<<<264, 256, 0, of.streams[i]>>>(1'500'000);
      OK(cudaStreamSynchronize(of.streams[i]));
      compute_on_host(0.00005);
    }
  });
}
void two_steps_ahead(Setup& of) {
  cudaEvent_t events[3] = {};
  for (cudaEvent_t& event : events) OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (unsigned step = 0; of.goes_on(); ++step) {
    OK(cudaEventSynchronize(events[step % 3]));
    compute_on_host(0.0005);
    for (int i = 0; i < 20; ++i) launch(of.streams[0], 150'000);
    OK(cudaEventRecord(events[step % 3], of.streams[0]));
  }
}
void results_beside_kernels(Setup& of) {
  cudaEvent_t done = nullptr;
  OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  while (of.goes_on()) {
    for (int i = 0; i < 20; ++i) {
      launch(of.streams[0], 2'000'000);
      OK(cudaEventRecord(done, of.streams[0]));
      OK(cudaStreamWaitEvent(of.streams[1], done));
      OK(cudaMemcpyAsync(of.pinned, of.y, 16 << 20, cudaMemcpyDefault, of.streams[1]));
    }
    OK(cudaStreamSynchronize(of.streams[1]));
  }
}
void one_long_kernel(Setup& of) {
  while (of.goes_on()) {
    launch(of.streams[0], 300'000'000);
    OK(cudaStreamSynchronize(of.streams[0]));
  }
}

struct Program {
  const char *name, *half, *expected;
  void (*run)(Setup&);
};
const Program kPrograms[] = {
    {"memory_in_the_loop", "improved", "implicit_sync", memory_in_the_loop},
    {"pool_without_threshold", "improved", "late_completion", pool_without_threshold},
    {"pageable_copies", "improved", "exposed_transfer", pageable_copies},
    {"wait_behind_each_kernel", "improved", "idle_device", wait_behind_each_kernel},
    {"tiny_kernels", "improved", "idle_device", tiny_kernels},
    {"host_work_between", "improved", "idle_device", host_work_between},
    {"slow_producer", "improved", "idle_device", slow_producer},
    {"streams_in_a_row", "improved", "exposed_transfer", streams_in_a_row},
    {"double_buffers", "improved", "-", double_buffers},
    {"pinned_memory_in_the_loop", "improved", "implicit_sync", pinned_memory_in_the_loop},
    {"registers_in_the_loop", "improved", "implicit_sync", registers_in_the_loop},
    {"reads_a_pipe", "improved", "idle_device", reads_a_pipe},
    {"function_on_the_host", "improved", "idle_device", function_on_the_host},
    {"waits_for_each_result", "improved", "idle_device", waits_for_each_result},
    {"polls_a_stream", "improved", "host_polls_queries", polls_a_stream},
    {"copies_and_waits", "improved", "exposed_transfer", copies_and_waits},
    {"eight_threads", "improved", "-", eight_threads},
    {"graphs_ahead", "improved", "-", graphs_ahead},
    {"pool_with_threshold", "improved", "-", pool_with_threshold},
    {"threads_in_the_default_stream", "apart", "shared_stream", threads_in_the_default_stream},
    {"copies_behind_another_threads_kernels", "apart", "shared_stream", copies_behind_another_threads_kernels},
    {"graph_made_anew", "apart", "idle_device", graph_made_anew},
    {"asks_now_and_then", "apart", "idle_device", asks_now_and_then},
    {"stream_made_anew", "apart", "idle_device", stream_made_anew},
    {"copies_number_by_number", "apart", "idle_device", copies_number_by_number},
    {"few_blocks", "apart", "underfilled_wave", few_blocks},
    {"lock_around_all", "apart", "idle_device", lock_around_all},
    {"takes_results_home", "apart", "exposed_transfer", takes_results_home},
    {"thread_per_stream", "apart", "-", thread_per_stream},
    {"two_steps_ahead", "apart", "-", two_steps_ahead},
    {"results_beside_kernels", "apart", "-", results_beside_kernels},
    {"one_long_kernel", "apart", "-", one_long_kernel},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Program& program : kPrograms) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0)
      std::printf("%s %s %s\n", program.name, program.half, program.expected);
    if (argc != 3 || std::strcmp(argv[1], program.name) != 0) continue;
    Setup setup(std::atof(argv[2]));
    program.run(setup);
    OK(cudaDeviceSynchronize());
    return 0;
  }
  return argc == 2 ? 0 : 2;
}
