// An ordinary CUDA program that polls in a kernel. It contains no wic-prof code; wic-prof must find the loop from
// outside.
//
// Each iteration runs a kernel whose blocks wait for a word and, concurrently, a kernel that computes. When the
// computing kernel has ended, the CPU writes a message and then the word, and the waiting blocks read the message.
#include <cuda_runtime.h>
#include <getopt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr char kUsage[] =
    "usage: bare_poll [OPTIONS]\n"
    "  --waiters N        waiting blocks (default: one per SM)\n"
    "  --iterations N     iterations (default: 20)\n"
    "  --word host|device memory of the word (default: host, pinned)\n"
    "  --help             this text\n";

struct Options {
  int waiters = 0;  // blocks; 0 = one per SM
  int iterations = 20;
  bool word_on_device = false;
  bool help = false;
};

constexpr int kThreads = 128;
constexpr int kComputeThreads = 256;
constexpr int kRounds = 1'000'000;  // of the computing kernel; takes some milliseconds
constexpr unsigned long long kDeadlineNs = 10'000'000'000;

// Minimal error handling: print what failed and exit.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bare_poll: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

__device__ unsigned long long now_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void wait_for_word(const volatile unsigned* word, unsigned wanted, const volatile unsigned* message,
                              unsigned* received, unsigned* missed) {
  __shared__ bool released;
  if (threadIdx.x == 0) {
    const unsigned long long deadline = now_ns() + kDeadlineNs;
    released = true;
    while (*word < wanted) {  // the polling loop
      if (now_ns() > deadline) {
        released = false;
        break;
      }
    }
    __threadfence_system();
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (released) {
    received[blockIdx.x] += *message;
  } else {
    atomicAdd(missed, 1u);
  }
}

__global__ void compute(float* values, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = values[i];
  for (int round = 0; round < rounds; ++round) value = value * 0.5f + 1.0f;
  values[i] = value;
}

// The word, with its addresses and the way the CPU writes it.
struct Word {
  unsigned* on_gpu = nullptr;
  unsigned* on_host = nullptr;  // nullptr if the word is in device memory
  cudaStream_t stream = nullptr;

  void write(unsigned value) const {
    if (on_host != nullptr) {
      *static_cast<volatile unsigned*>(on_host) = value;
    } else {
      check(cudaMemcpyAsync(on_gpu, &value, sizeof value, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
  }
};

Word make_word(bool on_device) {
  Word word;
  check(cudaStreamCreateWithFlags(&word.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  if (on_device) {
    check(cudaMalloc(&word.on_gpu, sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(word.on_gpu, 0, sizeof(unsigned)), "cudaMemset");
  } else {
    check(cudaHostAlloc(&word.on_host, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
    *word.on_host = 0;
    check(cudaHostGetDevicePointer(&word.on_gpu, word.on_host, 0), "cudaHostGetDevicePointer");
  }
  return word;
}

int run(const Options& options) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int waiters = options.waiters > 0 ? options.waiters : device.multiProcessorCount;
  // All waiting blocks and one computing block per SM must be resident at once.
  const int max_waiters =
      device.multiProcessorCount * std::min(16, (device.maxThreadsPerMultiProcessor - kComputeThreads) / kThreads);
  if (waiters > max_waiters) {
    std::fprintf(stderr, "bare_poll: %d waiters do not fit this GPU together with the computing blocks; at most %d\n",
                 waiters, max_waiters);
    return 3;
  }
  const int values = device.multiProcessorCount * kComputeThreads;
  const Word word = make_word(options.word_on_device);
  cudaStream_t waiting = nullptr, working = nullptr;
  check(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  unsigned *message = nullptr, *received = nullptr, *missed = nullptr;
  float* data = nullptr;
  check(cudaHostAlloc(&message, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaMalloc(&received, sizeof(unsigned) * waiters), "cudaMalloc");
  check(cudaMalloc(&missed, sizeof(unsigned)), "cudaMalloc");
  check(cudaMalloc(&data, sizeof(float) * values), "cudaMalloc");
  check(cudaMemset(received, 0, sizeof(unsigned) * waiters), "cudaMemset");
  check(cudaMemset(missed, 0, sizeof(unsigned)), "cudaMemset");
  check(cudaMemset(data, 0, sizeof(float) * values), "cudaMemset");
  // Load the computing kernel before anything waits: its first launch must not queue behind a kernel that waits for it.
  compute<<<device.multiProcessorCount, kComputeThreads, 0, working>>>(data, 1);
  check(cudaStreamSynchronize(working), "compute");

  unsigned long long expected = 0;
  std::vector<double> times;
  for (int i = 1; i <= options.iterations; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    wait_for_word<<<waiters, kThreads, 0, waiting>>>(word.on_gpu, static_cast<unsigned>(i), message, received, missed);
    check(cudaGetLastError(), "wait_for_word");
    compute<<<device.multiProcessorCount, kComputeThreads, 0, working>>>(data, kRounds);
    check(cudaStreamSynchronize(working), "compute");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *static_cast<volatile unsigned*>(message) = static_cast<unsigned>(3 * i);
    std::atomic_thread_fence(std::memory_order_release);
    word.write(static_cast<unsigned>(i));
    check(cudaStreamSynchronize(waiting), "wait_for_word");
    expected += static_cast<unsigned long long>(3 * i);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }

  std::vector<unsigned> sums(static_cast<std::size_t>(waiters));
  std::vector<float> computed(static_cast<std::size_t>(values));
  unsigned late = 0;
  check(cudaMemcpy(sums.data(), received, sizeof(unsigned) * waiters, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(computed.data(), data, sizeof(float) * values, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(&late, missed, sizeof late, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const bool right =
      late == 0 &&
      std::all_of(sums.begin(), sums.end(), [&](unsigned sum) { return sum == static_cast<unsigned>(expected); }) &&
      std::all_of(computed.begin(), computed.end(), [](float value) { return value > 1.99f && value <= 2.0f; });
  std::sort(times.begin(), times.end());
  std::printf("bare_poll: %d waiters, %d iterations of %.2f ms (median), word in %s memory: %s\n", waiters,
              options.iterations, times[times.size() / 2], options.word_on_device ? "device" : "pinned host",
              right ? "ok" : "FAILED");
  return right ? 0 : 1;
}

bool parse(int argc, char** argv, Options& options) {
  const option longs[] = {{"waiters", required_argument, nullptr, 'w'},
                          {"iterations", required_argument, nullptr, 'i'},
                          {"word", required_argument, nullptr, 'm'},
                          {"help", no_argument, nullptr, 'h'},
                          {nullptr, 0, nullptr, 0}};
  for (int c; (c = getopt_long(argc, argv, "", longs, nullptr)) != -1;) {
    char* end = nullptr;
    switch (c) {
      case 'w':
      case 'i': {
        const long number = std::strtol(optarg, &end, 10);
        if (*optarg == '\0' || *end != '\0' || number < 1 || number > 1'000'000) return false;
        (c == 'w' ? options.waiters : options.iterations) = static_cast<int>(number);
        break;
      }
      case 'm':
        options.word_on_device = std::strcmp(optarg, "device") == 0;
        if (!options.word_on_device && std::strcmp(optarg, "host") != 0) return false;
        break;
      case 'h':
        options.help = true;
        break;
      default:
        return false;
    }
  }
  return optind == argc;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  return run(options);
}
