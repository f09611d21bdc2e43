// Waits whose other ends wic-prof should see, or say that they stay open: signals CASE [SECONDS]. The kernels do not
// know wic-prof.
//   copy | small_copy_async | memset | stream_write   the host releases a waiting kernel in this way, 20 times
//   kernel     another kernel stores to the very word
//   host       the CPU stores to a pinned word
//   hang_missing   a kernel waits for a word that a copy has set to 3, and wants 4
//   hang_kernel    a kernel waits for a word that a second kernel stores to, which waits for the host's word
// Hangs end by a deadline in the kernels. Prints a line of JSON; `failed` counts waits that met the deadline.
#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    const auto result_ = (call);                                                                \
    if (result_ != decltype(result_)(0)) {                                                      \
      std::fprintf(stderr, "%s:%d: %s failed (%d)\n", __FILE__, __LINE__, #call, int(result_)); \
      std::exit(3);                                                                             \
    }                                                                                           \
  } while (0)

__device__ unsigned long long now_ns() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void waits_nonzero(const unsigned* word, unsigned long long limit, unsigned* failed) {
  const unsigned long long begin = now_ns();
  while (*(const volatile unsigned*)word == 0) {
    if (now_ns() - begin > limit) {
      atomicAdd(failed, 1);
      return;
    }
  }
}
__global__ void waits_for_four(const unsigned* word, unsigned long long limit, unsigned* failed) {
  const unsigned long long begin = now_ns();
  while (*(const volatile unsigned*)word < 4) {
    if (now_ns() - begin > limit) {
      atomicAdd(failed, 1);
      return;
    }
  }
}
__global__ void raises(unsigned* word, const unsigned* go, unsigned long long limit, unsigned* failed) {
  const unsigned long long begin = now_ns();
  while (*(const volatile unsigned*)go == 0) {
    if (now_ns() - begin > limit) {
      atomicAdd(failed, 1);
      return;
    }
  }
  *(volatile unsigned*)word = 1;
}

void pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(
        stderr,
        "usage: signals copy|small_copy_async|memset|stream_write|kernel|host|hang_missing|hang_kernel [SECONDS]\n");
    return 2;
  }
  const std::string what = argv[1];
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  const auto limit = static_cast<unsigned long long>(seconds * 1e9);
  cudaStream_t waiting, writing;
  CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&writing, cudaStreamNonBlocking));
  unsigned *words, *failed, *host;
  CHECK(cudaMalloc(&words, 4096));
  CHECK(cudaMalloc(&failed, sizeof *failed));
  CHECK(cudaMallocHost(&host, 4096));
  CHECK(cudaMemset(words, 0, 4096));
  CHECK(cudaMemset(failed, 0, sizeof *failed));
  std::memset(host, 0, 4096);
  CHECK(cudaDeviceSynchronize());
  // Kernels load at their first launch, which must not come while another one waits.
  for (const void* kernel : {(const void*)waits_nonzero, (const void*)waits_for_four, (const void*)raises}) {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
  }
  const bool hangs = what.rfind("hang", 0) == 0;
  const int rounds = hangs ? 1 : 20;
  const unsigned one = 1, three = 3;
  for (int round = 0; round < rounds; ++round) {
    unsigned* const word = words + round * 32;
    if (what == "host") {
      waits_nonzero<<<4, 32, 0, waiting>>>(host + round * 32, limit, failed);
      pause(2);
      *(volatile unsigned*)(host + round * 32) = 1;
    } else if (what == "kernel") {
      waits_nonzero<<<4, 32, 0, waiting>>>(word, limit, failed);
      pause(2);
      *(volatile unsigned*)(host + 512) = 1;
      raises<<<1, 1, 0, writing>>>(word, host + 512, limit, failed);
    } else if (what == "hang_missing") {
      CHECK(cudaMemcpy(word, &three, sizeof three, cudaMemcpyHostToDevice));
      waits_for_four<<<2, 32, 0, waiting>>>(word, limit, failed);
      pause(50);
      CHECK(cudaMemcpyAsync(word, &three, sizeof three, cudaMemcpyHostToDevice, writing));
    } else if (what == "hang_kernel") {
      waits_nonzero<<<2, 32, 0, waiting>>>(word, limit, failed);
      raises<<<1, 1, 0, writing>>>(word, host + 512, limit, failed);
    } else {
      waits_nonzero<<<4, 32, 0, waiting>>>(word, limit, failed);
      pause(2);
      if (what == "copy") CHECK(cudaMemcpyAsync(word, &one, sizeof one, cudaMemcpyHostToDevice, writing));
      if (what == "small_copy_async") {
        host[0] = 1;
        CHECK(cudaMemcpyAsync(word, host, sizeof one, cudaMemcpyHostToDevice, writing));
      }
      if (what == "memset") CHECK(cudaMemsetAsync(word, 1, sizeof one, writing));
      if (what == "stream_write") {
        CHECK(cuStreamWriteValue32((CUstream)writing, (CUdeviceptr)word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
      }
    }
    if (hangs) std::printf("hangs\n"), std::fflush(stdout);
    CHECK(cudaStreamSynchronize(waiting));
    CHECK(cudaStreamSynchronize(writing));
  }
  unsigned late = 0;
  CHECK(cudaMemcpy(&late, failed, sizeof late, cudaMemcpyDeviceToHost));
  std::printf("{\"case\": \"%s\", \"rounds\": %d, \"failed\": %u}\n", what.c_str(), rounds, late);
  return 0;
}
