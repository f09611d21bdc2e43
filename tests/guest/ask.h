// What the programs of tests/guest/ share. A question is a function that makes calls, states with IS what each must
// give in a program of its own, and says with say() what else a profiler must not change. Lines:
//   == NAME                the question
//   CALL: VALUE            a call's result or an observation; followed by ", not VALUE" where it is not what was stated
//   TIME NAME MS MORE      how long something took, and how many ms it may take longer than bare, beside 10 %
//   LEFT threads=N ...     what the question left behind, beside what it found
// run.py compares the first two literally, and the others within their bounds.
#pragma once

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
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

/// One line in one write: threads do not mix theirs, and no end of the process loses one.
inline void say(const char* format, ...) {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  const int made = std::vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  const std::size_t length = std::min(static_cast<std::size_t>(made < 0 ? 0 : made), sizeof line - 2);
  line[length] = '\n';
  if (write(STDOUT_FILENO, line, length + 1) < 0) std::_Exit(95);
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

/// Calls work() on a thread of its own, 4,000 times or GUEST_THREADS times, one after the other: a server that makes a
/// thread per request. Says how much resident memory of its own has grown since the first eighth: without what it
/// shares with others, as a profiler's buffers of one size are.
template <class Work>
void in_short_threads(Work&& work) {
  const auto resident_kb = [] {
    long pages = 0, resident = 0, shared = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%ld %ld %ld", &pages, &resident, &shared) != 3) resident = shared = 0;
      std::fclose(file);
    }
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
  };
  const char* const wanted = std::getenv("GUEST_THREADS");
  const long most = wanted == nullptr ? 4000 : std::atol(wanted);
  long before = 0;
  for (long i = 0; i < most; ++i) {
    if (i == most / 8) before = resident_kb();
    std::thread(work).join();
  }
  say("GREW resident_kb %ld 1024", resident_kb() - before);
}

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

inline int entries(const char* folder) {
  int count = 0;
  if (DIR* const opened = opendir(folder)) {
    while (readdir(opened) != nullptr) ++count;
    closedir(opened);
  }
  return count;
}

/// What a program has of a machine: `prepare` makes it ready, `memory` says how much of it is in use, in bytes.
struct Machine {
  void (*prepare)();
  long long (*memory)();
};

struct Left {
  long long threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd"), files = entries(".");
  long long memory = 0;
};

/// Asks the questions that the command line names, in this process. `--list`: prints all.
inline int run(const Question* first, const Question* last, const Machine& machine, int argc, char** argv) {
  int asked = 0;
  for (const Question* one = first; one != last; ++one) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0)
      say("%s %d %d %d", one->name, one->status, one->alone, one->gpus);
    if (std::find_if(argv, argv + argc, [&](const char* word) { return std::strcmp(word, one->name) == 0; }) ==
        argv + argc)
      continue;
    if (one->gpus > 0 && asked++ == 0) machine.prepare();
    const auto left = [&] {
      Left now;
      if (one->gpus > 0 && one->alone) now.memory = machine.memory();
      return now;
    };
    say("== %s", one->name);
    const Left before = left();
    one->ask();
    Left after = left();
    // A thread that was joined is listed for a moment longer.
    for (int i = 0; i < 10 && after.threads > before.threads; ++i, after = left()) pause_ms(2);
    say("LEFT threads=%lld descriptors=%lld files=%lld memory=%lld", after.threads - before.threads,
        after.descriptors - before.descriptors, after.files - before.files, after.memory - before.memory);
  }
  return 0;
}

}  // namespace guest

/// The list of a file's questions, and main().
#define QUESTIONS_FOR(machine, ...)                                                       \
  const guest::Question kQuestions[] = __VA_ARGS__;                                       \
  int main(int argc, char** argv) {                                                       \
    return guest::run(std::begin(kQuestions), std::end(kQuestions), machine, argc, argv); \
  }
