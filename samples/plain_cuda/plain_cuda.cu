// An ordinary CUDA program. It contains no wic-prof code and shows what wic-prof records of such programs.
//
// Each thread drives a few streams; each stream copies a vector to the GPU, clears another, adds the first to it in
// thousands of small kernels, and copies the sum back. The sums are checked. NVTX ranges name the phases.
#include <cuda_runtime.h>
#include <getopt.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Options {
  int threads = 1;
  int streams = 4;
  int kernels = 1000;     // per stream
  int elements = 65'536;  // per vector
};

// Minimal error handling: print what failed and exit.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "plain_cuda: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

__global__ void accumulate(const float* x, float* sum, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum[i] += x[i];
}

class Domain {
 public:
  explicit Domain(const char* name) : domain_(nvtxDomainCreateA(name)) {}
  ~Domain() { nvtxDomainDestroy(domain_); }
  void push(const std::string& message) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = message.c_str();
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  void pop() { nvtxDomainRangePop(domain_); }

 private:
  nvtxDomainHandle_t domain_;
};

struct Lane {
  cudaStream_t stream;
  cudaEvent_t done;
  float* x;         // on the GPU
  float* sum;       // on the GPU
  float* host_x;    // pinned
  float* host_sum;  // pinned
};

Lane make_lane(const Options& options, float value) {
  Lane lane{};
  const std::size_t bytes = sizeof(float) * options.elements;
  check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  check(cudaMalloc(&lane.x, bytes), "cudaMalloc");
  check(cudaMalloc(&lane.sum, bytes), "cudaMalloc");
  check(cudaMallocHost(&lane.host_x, bytes), "cudaMallocHost");
  check(cudaMallocHost(&lane.host_sum, bytes), "cudaMallocHost");
  for (int i = 0; i < options.elements; ++i) lane.host_x[i] = value;
  return lane;
}

void free_lane(Lane& lane) {
  check(cudaFree(lane.x), "cudaFree");
  check(cudaFree(lane.sum), "cudaFree");
  check(cudaFreeHost(lane.host_x), "cudaFreeHost");
  check(cudaFreeHost(lane.host_sum), "cudaFreeHost");
  check(cudaEventDestroy(lane.done), "cudaEventDestroy");
  check(cudaStreamDestroy(lane.stream), "cudaStreamDestroy");
}

// Returns the number of wrong elements. The values are small integers, which float adds exactly.
long run(const Options& options, int thread) {
  Domain domain("plain_cuda");
  const std::size_t bytes = sizeof(float) * options.elements;
  const int blocks = (options.elements + 255) / 256;

  domain.push("set up thread " + std::to_string(thread));
  std::vector<Lane> lanes;
  for (int s = 0; s < options.streams; ++s) lanes.push_back(make_lane(options, static_cast<float>(s % 3 + 1)));
  domain.pop();

  domain.push("compute");
  for (Lane& lane : lanes) {
    check(cudaMemcpyAsync(lane.x, lane.host_x, bytes, cudaMemcpyHostToDevice, lane.stream), "cudaMemcpyAsync");
    check(cudaMemsetAsync(lane.sum, 0, bytes, lane.stream), "cudaMemsetAsync");
  }
  for (int k = 0; k < options.kernels; ++k) {
    for (Lane& lane : lanes) accumulate<<<blocks, 256, 0, lane.stream>>>(lane.x, lane.sum, options.elements);
  }
  check(cudaGetLastError(), "kernel launch");
  for (Lane& lane : lanes) {
    check(cudaMemcpyAsync(lane.host_sum, lane.sum, bytes, cudaMemcpyDeviceToHost, lane.stream), "cudaMemcpyAsync");
    check(cudaEventRecord(lane.done, lane.stream), "cudaEventRecord");
  }
  check(cudaEventSynchronize(lanes.front().done), "cudaEventSynchronize");
  for (Lane& lane : lanes) check(cudaStreamSynchronize(lane.stream), "cudaStreamSynchronize");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  domain.pop();

  domain.push("check");
  long wrong = 0;
  for (Lane& lane : lanes) {
    for (int i = 0; i < options.elements; ++i) {
      if (lane.host_sum[i] != lane.host_x[i] * static_cast<float>(options.kernels)) ++wrong;
    }
    free_lane(lane);
  }
  domain.pop();
  return wrong;
}

[[noreturn]] void usage(int status) {
  std::fprintf(status == 0 ? stdout : stderr,
               "usage: plain_cuda [--threads N] [--streams N] [--kernels N] [--elements N]\n"
               "  --threads N   host threads, each with its own streams (1)\n"
               "  --streams N   streams per thread (4)\n"
               "  --kernels N   kernels per stream, at most 1,000,000 (1000)\n"
               "  --elements N  numbers per vector, at most 16,777,216 (65536)\n"
               "example: plain_cuda --threads 2 --kernels 5000\n");
  std::exit(status);
}

int number(const char* option, const char* text, int max) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && value >= 1 && value <= max) return static_cast<int>(value);
  std::fprintf(stderr, "plain_cuda: --%s takes a number from 1 to %d, not '%s'\n", option, max, text);
  std::exit(2);
}

Options read_options(int argc, char** argv) {
  Options options;
  const option known[] = {{"threads", required_argument, nullptr, 't'}, {"streams", required_argument, nullptr, 's'},
                          {"kernels", required_argument, nullptr, 'k'}, {"elements", required_argument, nullptr, 'e'},
                          {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0}};
  for (int c; (c = getopt_long(argc, argv, "h", known, nullptr)) != -1;) {
    switch (c) {
      case 't':
        options.threads = number("threads", optarg, 64);
        break;
      case 's':
        options.streams = number("streams", optarg, 128);
        break;
      case 'k':
        options.kernels = number("kernels", optarg, 1'000'000);
        break;
      case 'e':
        options.elements = number("elements", optarg, 1 << 24);
        break;
      case 'h':
        usage(0);
      default:
        usage(2);
    }
  }
  if (optind != argc) usage(2);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const nvtxRangeId_t whole = nvtxRangeStartA("plain_cuda");
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  nvtxRangePushA("context");
  check(cudaFree(nullptr), "cudaFree");
  nvtxRangePop();

  std::vector<long> wrong(options.threads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) {
    threads.emplace_back([&options, &wrong, t] { wrong[t] = run(options, t); });
  }
  for (std::thread& thread : threads) thread.join();
  nvtxMarkA("all threads done");
  nvtxRangeEnd(whole);

  long total = 0;
  for (const long n : wrong) total += n;
  const long kernels = static_cast<long>(options.threads) * options.streams * options.kernels;
  std::printf("plain_cuda: %ld kernels on %d streams of %d threads: %s\n", kernels, options.streams, options.threads,
              total == 0 ? "correct" : "WRONG");
  return total == 0 ? 0 : 1;
}
