// A program in the manner of molecular dynamics, as host_sharing.py measures it: in each step, every host thread
// computes for a while, launches a kernel whose length varies by 3 %, and waits for it; then the threads meet.
//   bench_host_sharing_md THREADS SECONDS STOP_FILE TIMES_FILE [MEETING]
//     MEETING: barrier   (the default) std::barrier, whose threads yield the CPU some times before they sleep
//              asleep    a barrier whose threads sleep at once
//              none      the threads do not meet: the wait for the kernel is the only one of a step
// Ends after SECONDS, or once STOP_FILE exists. Writes a line per step to TIMES_FILE: the step's end (CLOCK_MONOTONIC,
// ns), how long the threads computed in it: the longest, the mean, and the mean of their CPU times (ns); and from the
// meeting before the step until the last thread, and the mean, went on. Without a meeting there is a line per step of
// each thread, sorted by their ends. Knows nothing of wic-prof.
#include <cuda_runtime.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned long long kKernel = 2'000'000;  // ns: with the host's part, some 400 launches per thread and second
constexpr unsigned long long kLongest = 20'000'000;  // ns: no kernel runs longer
constexpr double kSpread = 0.03;                     // kernels of NAMD vary by 2 to 5 %
constexpr int kHostWork = 200'000;                   // dependent operations, some 0.3 ms

__global__ void forces(unsigned long long ns, unsigned* count) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns && now - begin < kLongest);
  ++*count;
}

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(3);
}

long long now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

struct Worker {
  cudaStream_t stream = nullptr;
  unsigned* count = nullptr;
  unsigned long long random = 0;
  double state = 1;
  long long computed = 0, cpu = 0, woken = 0;  // in the current step
  std::size_t steps = 0;

  __attribute__((noinline)) void integrate() {
    for (int i = 0; i < kHostWork; ++i) state = state * 0.999999 + 1e-6;
  }
  __attribute__((noinline)) void step() {
    const long long begin = now_ns(), cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    integrate();
    cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
    computed = now_ns() - begin;
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const double part = static_cast<double>(random >> 11) / 9007199254740992.0;  // 0 to 1
    forces<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(kKernel * (1 + kSpread * (2 * part - 1))), count);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
};

struct Step {
  long long end, longest, mean, mean_cpu, woken_last, woken;
};

/// A barrier whose threads sleep at once.
class Asleep {
 public:
  explicit Asleep(int threads) : threads_(threads) {}
  template <class Completion>
  void arrive_and_wait(Completion&& completion) {
    std::unique_lock lock(mutex_);
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      completion();
      lock.unlock();
      return next_.notify_all();
    }
    next_.wait(lock, [this, round = round_] { return round != round_; });
  }

 private:
  const int threads_;
  int arrived_ = 0;
  unsigned round_ = 0;
  std::mutex mutex_;
  std::condition_variable next_;
};

struct Run {
  std::vector<Worker> workers;
  std::vector<Step> steps;
  long long end = 0;
  const char* stop_file = nullptr;
  std::atomic<bool> stop{false};

  void look_at_stop(long long now, std::size_t step) {
    if (now > end || (step % 64 == 0 && access(stop_file, F_OK) == 0)) stop = true;
  }
  /// All threads have arrived.
  void met() noexcept {
    Step step{now_ns(), 0, 0, 0, 0, 0};
    const auto threads = static_cast<long long>(workers.size());
    for (const Worker& worker : workers) {
      step.longest = std::max(step.longest, worker.computed);
      step.mean += worker.computed / threads;
      step.mean_cpu += worker.cpu / threads;
      step.woken_last = std::max(step.woken_last, worker.woken);
      step.woken += worker.woken / threads;
    }
    steps.push_back(step);
    look_at_stop(step.end, steps.size());
  }
  template <class Meet>
  void together(Meet&& meet) {
    std::vector<std::thread> running;
    for (Worker& worker : workers) {
      running.emplace_back([&] {
        while (!stop) {
          worker.step();
          ++worker.steps;
          meet();
          worker.woken = now_ns() - steps.back().end;
        }
      });
    }
    for (std::thread& thread : running) thread.join();
  }
  void apart() {
    std::vector<std::vector<Step>> of(workers.size());
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      running.emplace_back([this, &worker = workers[i], &steps = of[i], first = i == 0] {
        while (!stop) {
          worker.step();
          steps.push_back({now_ns(), worker.computed, worker.computed, worker.cpu, 0, 0});
          if (first) look_at_stop(steps.back().end, steps.size());
        }
        worker.steps = steps.size();
      });
    }
    for (std::thread& thread : running) thread.join();
    for (const std::vector<Step>& one : of) steps.insert(steps.end(), one.begin(), one.end());
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.end < b.end; });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int threads = std::atoi(argv[1]);
  const std::string meeting = argc > 5 ? argv[5] : "barrier";
  Run run;
  run.end = now_ns() + static_cast<long long>(std::atof(argv[2]) * 1e9);
  run.stop_file = argv[3];
  run.workers.resize(static_cast<std::size_t>(threads));
  for (std::size_t i = 0; i < run.workers.size(); ++i) {
    Worker& worker = run.workers[i];
    check(cudaStreamCreateWithFlags(&worker.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(&worker.count, sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(worker.count, 0, sizeof(unsigned)), "cudaMemset");
    worker.random = 88172645463325252ull + i;
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (meeting == "none") {
    run.apart();
  } else if (meeting == "asleep") {
    Asleep meet(threads);
    run.together([&] { meet.arrive_and_wait([&] { run.met(); }); });
  } else {
    std::barrier meet(threads, [&]() noexcept { run.met(); });
    run.together([&] { meet.arrive_and_wait(); });
  }
  bool all = true;
  for (const Worker& worker : run.workers) {
    unsigned counted = 0;
    check(cudaMemcpy(&counted, worker.count, sizeof counted, cudaMemcpyDeviceToHost), "cudaMemcpy");
    all = all && counted == worker.steps;
  }
  std::FILE* const file = std::fopen(argv[4], "w");
  if (file == nullptr) return 3;
  for (const Step& step : run.steps)
    std::fprintf(file, "%lld %lld %lld %lld %lld %lld\n", step.end, step.longest, step.mean, step.mean_cpu,
                 step.woken_last, step.woken);
  std::fclose(file);
  std::printf("steps %zu, kernels %s\n", run.steps.size(), all ? "all" : "LOST");
  return all ? 0 : 4;
}
