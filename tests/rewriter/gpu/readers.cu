// What waiting threads do to a kernel beside them that streams host memory: 4 blocks per SM read a timer, a word of the
// device's memory or a word of host memory, with pauses between the reads. Prints the streaming kernel's best time of
// three per case. Every wait ends after four billion cycles at the latest.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

enum class Reads { nothing, timer, word_system_scope, word_device_scope, host_word_by_all, host_word_by_one };
constexpr const char* kNames[] = {"nothing",
                                  "the timer",
                                  "one word of device memory (volatile)",
                                  "one word of device memory (relaxed.gpu)",
                                  "one word of host memory, all threads",
                                  "one word of host memory, one thread"};
constexpr long long kDeadlineCycles = 4'000'000'000;
constexpr size_t kCount = size_t{4} << 20;  // 64 MiB of float4
constexpr int kRounds = 8;

__device__ unsigned device_word[64];

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void wait_for_stop(Reads reads, unsigned pause, const volatile unsigned* host,
                              const volatile unsigned* stop) {
  if (threadIdx.x != 0) return;
  const long long begin = clock64();
  unsigned sum = 0;
  for (unsigned round = 1;; ++round) {
    if (round % 16 == 0 || pause >= 4000) {
      if (*stop != 0 || clock64() - begin > kDeadlineCycles) break;
    }
    unsigned value = 0;
    unsigned long long now = 0;
    switch (reads) {
      case Reads::nothing:
        break;
      case Reads::timer:
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        value = static_cast<unsigned>(now);
        break;
      case Reads::word_system_scope:
        asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(device_word));
        break;
      case Reads::word_device_scope:
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(device_word));
        break;
      case Reads::host_word_by_all:
        value = *host;
        break;
      case Reads::host_word_by_one:
        if (blockIdx.x == 0) value = *host;
        break;
    }
    sum += value;
    if (pause != 0) __nanosleep(pause);
  }
  if (sum == 1) device_word[1] = sum;  // keeps the reads
}

__global__ void stream_host(const float4* from, float4* to, size_t count, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
      float4 v = from[i];
      v.x += 1;
      to[i] = v;
    }
  }
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int blocks = device.multiProcessorCount;
  float4 *from = nullptr, *to = nullptr;
  unsigned *host = nullptr, *stop = nullptr;
  check(cudaHostAlloc(&from, kCount * sizeof(float4), cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaHostAlloc(&host, 4096, cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaMalloc(&to, kCount * sizeof(float4)), "cudaMalloc");
  check(cudaMalloc(&stop, 4096), "cudaMalloc");
  *host = 0;
  cudaStream_t waiting, working, stopping;
  for (cudaStream_t* stream : {&waiting, &working, &stopping}) {
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  const unsigned one = 1;
  const auto end_waits = [&] {
    check(cudaMemcpyAsync(stop, &one, sizeof one, cudaMemcpyHostToDevice, stopping), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stopping), "cudaStreamSynchronize");
    check(cudaStreamSynchronize(waiting), "waiting");
  };
  const auto measure = [&](int waiters, Reads reads, unsigned pause) {
    double best = 1e30;
    for (int repeat = 0; repeat < 3; ++repeat) {
      check(cudaMemset(stop, 0, sizeof one), "cudaMemset");
      check(cudaDeviceSynchronize(), "prepare");
      if (waiters != 0) wait_for_stop<<<waiters, 32, 0, waiting>>>(reads, pause, host, stop);
      const auto begin = std::chrono::steady_clock::now();
      stream_host<<<blocks, 256, 0, working>>>(from, to, kCount, kRounds);
      check(cudaStreamSynchronize(working), "stream");
      best =
          std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
      end_waits();
    }
    return best;
  };
  // Loads the kernels before anything waits.
  stream_host<<<blocks, 256, 0, working>>>(from, to, 256, 1);
  wait_for_stop<<<1, 32, 0, waiting>>>(Reads::nothing, 0, host, stop);
  end_waits();
  check(cudaDeviceSynchronize(), "load");
  for (int pass = 0; pass < 2; ++pass) {
    std::printf("nobody waits: %.3f ms\n", measure(0, Reads::nothing, 0));
    for (int reads = 0; reads < 6; ++reads) {
      for (const unsigned pause : {0u, 400u, 2'000u, 8'000u, 32'000u}) {
        std::printf("%d blocks read %s, pause %u ns: %.3f ms\n", 4 * blocks, kNames[reads], pause,
                    measure(4 * blocks, static_cast<Reads>(reads), pause));
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
