// A co-runner: threads that use whatever CPU time they get.
//   bench_host_sharing_load busy|matrix|memory THREADS SECONDS
// Ends after SECONDS, or with the process that started it.
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile double sink = 0;

void busy() {
  for (int i = 0; i < 1'000'000; ++i) sink = i;
}

void matrix() {
  constexpr int kSize = 192;
  static thread_local std::vector<double> a(kSize * kSize, 1.5), b(kSize * kSize, 0.5), c(kSize * kSize);
  for (int i = 0; i < kSize; ++i) {
    for (int k = 0; k < kSize; ++k) {
      for (int j = 0; j < kSize; ++j) c[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
    }
  }
  sink = c[0];
}

void memory() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;  // beyond the caches of a core
  static thread_local std::vector<char> from(kBytes, 1), to(kBytes);
  std::memcpy(to.data(), from.data(), kBytes);
  sink = to[kBytes / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string kind = argv[1];
  const auto work = kind == "busy" ? busy : kind == "matrix" ? matrix : kind == "memory" ? memory : nullptr;
  if (work == nullptr) return 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    threads.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) work();
    });
  }
  for (std::thread& thread : threads) thread.join();
}
