// A plain CUDA program that knows nothing of wic.
//   endless wait SECONDS     a host thread waits in cudaStreamSynchronize for a kernel that polls a word which nobody
//                            writes, until a deadline in the kernel
//   endless launches COUNT   prints the nanoseconds of one launch of an empty kernel, with a wait after each hundred
//   endless calls COUNT      prints the nanoseconds of one cudaStreamSynchronize without work
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

__global__ void wait_for_flag(const volatile unsigned* flag, unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*flag == 0 && now - begin < ns);
}

__global__ void prepare(unsigned* word) { *word = 0; }

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(3);
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1];
  const double number = std::atof(argv[2]);
  cudaStream_t stream;
  unsigned* flag;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  check(cudaMalloc(&flag, sizeof *flag), "cudaMalloc");
  for (int i = 0; i < 3; ++i) prepare<<<1, 1, 0, stream>>>(flag);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (what == "wait") {
    prepare<<<1, 1, 0, stream>>>(flag);
    wait_for_flag<<<4, 64, 0, stream>>>(flag, static_cast<unsigned long long>(number * 1e9));
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return 0;
  }
  const int count = static_cast<int>(number);
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) {
    if (what == "launches") prepare<<<1, 1, 0, stream>>>(flag);
    if (what == "calls" || i % 100 == 99) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::printf("%s %.0f ns\n", what.c_str(), (now_ns() - begin) / count);
  return 0;
}
