// What the programs of tests/guest/ share. A question is a function that makes calls, states with IS what each must
// give in a program of its own, and says in SAY what else a profiler must not change. Lines:
//   CALL: VALUE            a call's result or an observation; followed by ", not VALUE" where it is not what was stated
//   TIME NAME MS MORE      how long something took, and how many ms it may take longer than bare, beside 10 %
//   LEFT threads=N ...     what the question left behind, beside what it found
// run.py compares the first kind literally, and the others within their bounds.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace guest {

struct Question {
  const char* name;
  void (*ask)();
  int status = 0;      ///< the process's exit status, 128 + N after signal N
  bool alone = false;  ///< its times or its memory count: nothing else may run beside it
  int gpus = 1;        ///< 0: nothing of CUDA before the question
};

inline void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::fputc('\n', stdout);
  std::fflush(stdout);  // before an end that flushes nothing
}

template <class Got, class Stated>
inline bool is(const char* what, Got got, Stated stated) {
  const auto value = static_cast<long long>(got), wanted = static_cast<long long>(stated);
  if (value == wanted) say("%s: %lld", what, value);
  if (value != wanted) say("%s: %lld, not %lld", what, value, wanted);
  return value == wanted;
}
#define IS(got, stated) guest::is(#got, got, stated)
#define OK(call) guest::is(#call, call, 0)

inline double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}
inline void pause_ms(double ms) { usleep(static_cast<useconds_t>(ms * 1000)); }

/// From its construction to its end. `more`: ms that it may take longer than in a program of its own, beside 10 %.
class Timed {
 public:
  explicit Timed(const char* name, double more = 1) : name_(name), more_(more), begin_(now_ms()) {}
  ~Timed() { say("TIME %s %.4f %g", name_, now_ms() - begin_, more_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  const char* name_;
  double more_, begin_;
};

/// Waits, at most five seconds; says so if that was not enough.
template <class Condition>
inline bool until(Condition condition) {
  for (const double end = now_ms() + 5000; !condition(); pause_ms(0.05)) {
    if (now_ms() > end) return say("a wait of the question's own took five seconds"), false;
  }
  return true;
}

/// A word that host and GPU see.
struct Word {
  volatile unsigned* at = nullptr;
  Word() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) std::_Exit(97);
    at = static_cast<volatile unsigned*>(memory);
    *at = 0;
  }
  void set(unsigned value = 1) const { *at = value; }
  operator volatile unsigned*() const { return at; }
};

// Kernels. None runs for longer than its deadline.
__device__ inline unsigned long long device_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
static __global__ void busy_kernel(unsigned long long ns) {
  const unsigned long long begin = device_ns();
  while (device_ns() - begin < ns && device_ns() - begin < 2'000'000'000) {
  }
}
/// Until the word is at least `value`, at most two seconds; then adds one to `count`, if there is one.
static __global__ void hold_kernel(const volatile unsigned* word, unsigned value, volatile unsigned* timed_out) {
  const unsigned long long begin = device_ns();
  while (*word < value) {
    if (device_ns() - begin > 2'000'000'000) {
      if (timed_out != nullptr) *timed_out = 1;
      return;
    }
  }
}
static __global__ void set_kernel(volatile unsigned* word, unsigned value) { *word = value; }
static __global__ void add_kernel(unsigned* word, unsigned value) { *word += value; }
static __global__ void trap_kernel() { asm volatile("trap;"); }
static __global__ void stray_kernel() { *reinterpret_cast<volatile int*>(16) = 1; }

inline void busy(cudaStream_t stream, double ms) {
  busy_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(ms * 1e6));
}
inline void hold(cudaStream_t stream, const Word& word, unsigned value = 1, const Word* timed_out = nullptr) {
  hold_kernel<<<1, 1, 0, stream>>>(word, value, timed_out == nullptr ? nullptr : timed_out->at);
}
inline void set(cudaStream_t stream, const Word& word, unsigned value = 1) {
  set_kernel<<<1, 1, 0, stream>>>(word, value);
}

inline cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t made = nullptr;
  if (cudaStreamCreateWithFlags(&made, flags) != cudaSuccess) std::_Exit(97);
  return made;
}
inline cudaEvent_t event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t made = nullptr;
  if (cudaEventCreateWithFlags(&made, flags) != cudaSuccess) std::_Exit(97);
  return made;
}

inline int entries(const char* folder) {
  int count = 0;
  if (DIR* const opened = opendir(folder)) {
    while (readdir(opened) != nullptr) ++count;
    closedir(opened);
  }
  return count;
}

struct Left {
  long long threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd"), files = entries(".");
  long long memory = 0;
  explicit Left(bool cuda) {
    std::size_t free = 0, total = 0;
    if (cuda && cudaMemGetInfo(&free, &total) == cudaSuccess) memory = static_cast<long long>(total - free);
  }
};

inline int run(const Question* first, const Question* last, int argc, char** argv) {
  for (const Question* one = first; one != last; ++one) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0)
      say("%s %d %d %d", one->name, one->status, one->alone, one->gpus);
    if (argc != 2 || std::strcmp(argv[1], one->name) != 0) continue;
    const bool cuda = one->gpus > 0;
    // All kernels are loaded before the first one waits for another.
    if (cuda) {
      const Word word;
      word.set();
      unsigned* memory = nullptr;
      if (cudaMalloc(&memory, 64) != cudaSuccess) std::_Exit(97);
      busy(nullptr, 0.01);
      hold(nullptr, word);
      set(nullptr, word);
      add_kernel<<<1, 1>>>(memory, 1);
      cudaFuncAttributes attributes{};
      cudaFuncGetAttributes(&attributes, trap_kernel);
      cudaFuncGetAttributes(&attributes, stray_kernel);
      if (cudaDeviceSynchronize() != cudaSuccess) std::_Exit(97);
      cudaFree(memory);
      cudaFreeHost(const_cast<unsigned*>(word.at));
    }
    const Left before(cuda && one->alone);
    one->ask();
    const Left after(cuda && one->alone);
    say("LEFT threads=%lld descriptors=%lld files=%lld memory=%lld", after.threads - before.threads,
        after.descriptors - before.descriptors, after.files - before.files, after.memory - before.memory);
    return 0;
  }
  return argc == 2 && std::strcmp(argv[1], "--list") == 0 ? 0 : 96;
}

}  // namespace guest

/// The list of a file's questions, and main().
#define QUESTIONS(...)                                                                              \
  const guest::Question kQuestions[] = __VA_ARGS__;                                                  \
  int main(int argc, char** argv) { return guest::run(std::begin(kQuestions), std::end(kQuestions), argc, argv); }
