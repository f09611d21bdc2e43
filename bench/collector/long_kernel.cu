// Long kernels of fp32 arithmetic that fill the GPU, to measure the cost of sampling. An ordinary CUDA program;
// bench/collector_overhead.cpp runs it bare and recorded.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 8;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "long_kernel: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

// Four chains per thread, so that throughput rather than latency limits the arithmetic. All chains converge to 2.
__global__ void arithmetic(float* out, long steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i % 7, b = i % 5, c = i % 3, d = i % 2;
  for (long k = 0; k < steps; ++k) {
    a = a * 0.5f + 1.0f;
    b = b * 0.5f + 1.0f;
    c = c * 0.5f + 1.0f;
    d = d * 0.5f + 1.0f;
  }
  out[i] = a + b + c + d;
}

[[noreturn]] void usage(int status) {
  std::fprintf(status == 0 ? stdout : stderr,
               "usage: long_kernel [--launches N] [--steps N]\n"
               "  --launches N  sequential kernels (10)\n"
               "  --steps N     rounds of four fused multiply-adds per thread (2500000)\n"
               "Prints the GPU's time for all kernels.\n"
               "example: long_kernel --launches 10\n");
  std::exit(status);
}

long number(const char* name, const char* text, long most) {
  char* end = nullptr;
  const long value = text == nullptr ? 0 : std::strtol(text, &end, 10);
  if (value >= 1 && value <= most && *end == '\0') return value;
  std::fprintf(stderr, "long_kernel: %s takes a number from 1 to %ld\n", name, most);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  long launches = 10, steps = 2'500'000;
  for (int i = 1; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--help") == 0) usage(0);
    if (std::strcmp(argv[i], "--launches") == 0) {
      launches = number(argv[i], argv[i + 1], 10'000);
    } else if (std::strcmp(argv[i], "--steps") == 0) {
      steps = number(argv[i], argv[i + 1], 100'000'000);
    } else {
      usage(2);
    }
  }
  int device = 0, sms = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  const int blocks = sms * kBlocksPerSm;
  std::vector<float> host(static_cast<std::size_t>(blocks) * kThreads);
  float* out = nullptr;
  check(cudaMalloc(&out, host.size() * sizeof(float)), "cudaMalloc");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");

  for (int i = 0; i < 3; ++i) arithmetic<<<blocks, kThreads>>>(out, steps / 10 + 1);  // raises the clocks
  check(cudaEventRecord(begin), "cudaEventRecord");
  for (long i = 0; i < launches; ++i) arithmetic<<<blocks, kThreads>>>(out, steps);
  check(cudaEventRecord(end), "cudaEventRecord");
  check(cudaGetLastError(), "kernel launch");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");

  check(cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (const float value : host) {
    if (steps >= 100 && std::fabs(value - 8.0f) > 1e-4f) {
      std::fprintf(stderr, "long_kernel: a result is wrong: %g\n", value);
      return 1;
    }
  }
  std::printf("ms %.3f\n", ms);
  std::fflush(stdout);
  return 0;
}
