// A program whose steps are late for a known reason, as injected_delays.py judges them: launches a kernel of 2 ms and
// waits for it, over and over; every tenth step is 4 ms longer.
//   bench_injected_delays_app KIND STEPS KERNEL_MICROSECONDS TIMES_FILE
//     KIND: sleep (before the launch), compute (the same), kernel (the work itself), launch (work begins 4 ms after its
//           launch), none
// Waits until TIMES_FILE.go exists. Writes a line per late step to TIMES_FILE: its begin and end (CLOCK_MONOTONIC, ns);
// at last a line "all" with the begin and the end of all steps. Knows nothing of wic-prof.
#include <cuda_runtime.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr long long kLate = 4'000'000;  // ns
constexpr int kEvery = 10, kFirst = 20;
constexpr long long kLongest = 100'000'000;  // ns: no kernel runs longer

__global__ void busy(long long ns) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns && now - begin < kLongest);
}

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(3);
}

long long now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void sleep_late(void*) { usleep(static_cast<useconds_t>(kLate / 1000)); }

__attribute__((noinline)) void step(const std::string& kind, bool late, long long kernel, cudaStream_t stream) {
  if (late && kind == "sleep") sleep_late(nullptr);
  if (late && kind == "compute") {
    for (const long long end = now_ns() + kLate; now_ns() < end;) {
    }
  }
  if (late && kind == "launch") check(cudaLaunchHostFunc(stream, sleep_late, nullptr), "cudaLaunchHostFunc");
  busy<<<1, 1, 0, stream>>>(late && kind == "kernel" ? kernel + kLate : kernel);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string kind = argv[1], times = argv[4];
  const int steps = std::atoi(argv[2]);
  const long long kernel = std::atoll(argv[3]) * 1000;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaLaunchHostFunc(stream, sleep_late, nullptr), "cudaLaunchHostFunc");  // starts the driver's thread
  for (int i = 0; i < 5; ++i) step("none", false, kernel, stream);
  for (int i = 0; i < 1000 && access((times + ".go").c_str(), F_OK) != 0; ++i) usleep(10'000);
  std::FILE* const file = std::fopen(times.c_str(), "w");
  if (file == nullptr) return 3;
  const long long begin = now_ns();
  for (int i = 0; i < steps; ++i) {
    const bool late = kind != "none" && i >= kFirst && i % kEvery == 0;
    const long long at = now_ns();
    step(kind, late, kernel, stream);
    if (late) std::fprintf(file, "late %lld %lld\n", at, now_ns());
  }
  std::fprintf(file, "all %lld %lld\n", begin, now_ns());
  std::fclose(file);
  return 0;
}
