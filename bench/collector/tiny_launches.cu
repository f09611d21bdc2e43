// Empty kernels, launched as fast as possible, to measure the cost of a launch. An ordinary CUDA program;
// bench/collector_overhead.cpp and bench/guest_cost.py run it bare and recorded.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "tiny_launches: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);
}

__global__ void nothing() {}

__global__ void spin(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) continue;
}

// Threads that wait for kernels of half a millisecond, again and again, until it ends.
class Waiting {
 public:
  explicit Waiting(int threads) {
    for (int t = 0; t < threads; ++t) all_.emplace_back([this] { run(); });
  }
  ~Waiting() {
    stop_.store(true);
    for (std::thread& thread : all_) thread.join();
  }

 private:
  static constexpr long long kCycles = 800'000;

  void run() const {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    while (!stop_.load()) {
      spin<<<1, 1, 0, stream>>>(kCycles);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }

  std::atomic<bool> stop_{false};
  std::vector<std::thread> all_;
};

void launch(cudaStream_t stream, long count) {
  for (long i = 0; i < count; ++i) nothing<<<1, 32, 0, stream>>>();
}

// Nanoseconds per launch of one thread, until the last kernel has ended, while `threads` threads launch `count` kernels
// each.
double measure(int threads, long count) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<double> took(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      cudaStream_t stream;
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      launch(stream, std::max(count / 20, 1L));  // warm-up
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      ready.fetch_add(1);
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      const auto begin = Clock::now();
      launch(stream, count);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      took[t] = std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(count);
      check(cudaGetLastError(), "kernel launch");
      check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  go.store(true, std::memory_order_release);
  for (std::thread& thread : all) thread.join();
  double sum = 0;
  for (const double each : took) sum += each;
  return sum / threads;
}

[[noreturn]] void usage(int status) {
  std::fprintf(status == 0 ? stdout : stderr,
               "usage: tiny_launches [--launches N] [--threads N] [--waiting N]\n"
               "  --launches N  empty kernels per thread (100000)\n"
               "  --threads N   threads, one stream each (1)\n"
               "  --waiting N   threads beside them that wait for kernels of half a millisecond (0)\n"
               "Prints the launching thread's time per launch, until the GPU has finished.\n"
               "example: tiny_launches --launches 100000 --threads 8\n");
  std::exit(status);
}

long number(const char* name, const char* text, long most, long least = 1) {
  char* end = nullptr;
  const long value = text == nullptr ? 0 : std::strtol(text, &end, 10);
  if (end != text && end != nullptr && value >= least && value <= most && *end == '\0') return value;
  std::fprintf(stderr, "tiny_launches: %s takes a number from %ld to %ld\n", name, least, most);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  long launches = 100'000, threads = 1, waiting = 0;
  for (int i = 1; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--help") == 0) usage(0);
    if (std::strcmp(argv[i], "--launches") == 0) {
      launches = number(argv[i], argv[i + 1], 100'000'000);
    } else if (std::strcmp(argv[i], "--threads") == 0) {
      threads = number(argv[i], argv[i + 1], 256);
    } else if (std::strcmp(argv[i], "--waiting") == 0) {
      waiting = number(argv[i], argv[i + 1], 256, 0);
    } else {
      usage(2);
    }
  }
  check(cudaFree(nullptr), "cudaFree");
  const Waiting beside(static_cast<int>(waiting));
  std::printf("ns_per_launch %.1f\n", measure(static_cast<int>(threads), launches));
  std::fflush(stdout);
  return 0;
}
