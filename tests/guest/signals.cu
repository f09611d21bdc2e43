// Signals that arrive during waits, and handlers that call CUDA.
#include "tests/guest/gpu.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

using namespace guest;

namespace {

std::atomic<int> arrived{0};
cudaStream_t from_handler = nullptr;

void handle(int which, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(which, &action, nullptr);
}
void every_ms(int ms) {
  const itimerval often{{0, ms * 1000}, {0, ms * 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

}  // namespace

void alarms_during_waits() {
  handle(SIGALRM, [](int) { ++arrived; });
  every_ms(1);
  const cudaStream_t one = stream();
  for (int i = 0; i < 3; ++i) {
    busy(one, 20);
    OK(cudaStreamSynchronize(one));
    OK(cudaStreamQuery(one));
  }
  every_ms(0);
  IS(arrived > 20, 1);
}
void alarms_during_event_and_device_waits() {
  handle(SIGALRM, [](int) { ++arrived; });
  every_ms(1);
  const cudaStream_t one = stream();
  const cudaEvent_t behind = event(cudaEventBlockingSync | cudaEventDisableTiming);
  for (int i = 0; i < 3; ++i) {
    busy(one, 10);
    OK(cudaEventRecord(behind, one));
    OK(cudaEventSynchronize(behind));
    busy(one, 10);
    OK(cudaDeviceSynchronize());
  }
  every_ms(0);
  IS(arrived > 20, 1);
}
// A handler that waits in CUDA, while the thread computes.
void handler_waits() {
  from_handler = stream();
  static std::atomic<int> code{-1};
  handle(SIGUSR1, [](int) { code = cudaStreamSynchronize(from_handler); });
  busy(from_handler, 5);
  raise(SIGUSR1);
  OK(code.load());
}
// The handler releases what the thread waits for.
void handler_releases() {
  static const Word word;
  handle(SIGALRM, [](int) { word.set(); });
  const cudaStream_t one = stream();
  hold(one, word);
  const itimerval once{{0, 0}, {0, 20'000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  OK(cudaStreamSynchronize(one));
  IS(*word.at, 1);
}
void mask_stays() {
  sigset_t blocked, now;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  IS(sigismember(&now, SIGUSR1), 1);
  IS(sigismember(&now, SIGTERM), 1);
  IS(sigismember(&now, SIGINT), 0);
}
// A signal for the process arrives in the program's own threads, and in none of a profiler's.
void arrives_in_the_programs_thread() {
  static std::atomic<long> in{0};
  handle(SIGUSR2, [](int) { in = gettid(); });
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  kill(getpid(), SIGUSR2);
  until([] { return in != 0; });
  IS(in == getpid(), 1);
}
void sigwait_gets_it() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  int got = 0;
  pthread_kill(pthread_self(), SIGUSR1);  // CUDA's own threads do not block signals
  const timespec longest{5, 0};
  got = sigtimedwait(&set, nullptr, &longest);
  IS(got, SIGUSR1);
}
void handlers_are_the_programs() {
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  int others = 0;
  for (int which = 1; which < 32; ++which) {
    struct sigaction action {};
    if (sigaction(which, nullptr, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
      ++others;
  }
  IS(others, 0);
}
void interrupted_by_default() {  // ends the program in its wait
  const cudaStream_t one = stream();
  static const Word word;
  hold(one, word);
  std::thread([] {
    pause_ms(20);
    kill(getpid(), SIGUSR1);
  }).detach();
  cudaStreamSynchronize(one);
}
void terminated_in_a_wait() {
  const cudaStream_t one = stream();
  static const Word word;
  hold(one, word);
  alarm(1);
  cudaStreamSynchronize(one);
  pause_ms(3000);
}
void handler_exits_in_a_wait() {
  handle(SIGUSR1, [](int) { _exit(5); });
  const cudaStream_t one = stream();
  static const Word word;
  hold(one, word);
  std::thread([] {
    pause_ms(20);
    kill(getpid(), SIGUSR1);
  }).detach();
  cudaStreamSynchronize(one);
}
// Jumps out of a function of the program's own, over no call of CUDA.
void jumps_between_waits() {
  static jmp_buf back;
  const cudaStream_t one = stream();
  static int turns = 0;
  setjmp(back);
  busy(one, 3);
  OK(cudaStreamSynchronize(one));
  if (++turns < 5) longjmp(back, 1);
  IS(turns, 5);
}
void on_an_alternate_stack() {
  static char memory[128 * 1024];
  const stack_t stack{memory, 0, sizeof memory};
  OK(sigaltstack(&stack, nullptr));
  from_handler = stream();
  static std::atomic<int> code{-1};
  handle(
      SIGUSR1, [](int) { code = cudaStreamSynchronize(from_handler); }, SA_ONSTACK);
  busy(from_handler, 5);
  raise(SIGUSR1);
  OK(code.load());
  stack_t now{};
  OK(sigaltstack(nullptr, &now));
  IS(now.ss_sp == memory, 1);
}

#define Q(name, status) \
  { #name, name, status }
QUESTIONS({Q(alarms_during_waits, 0), Q(alarms_during_event_and_device_waits, 0), Q(handler_waits, 0),
           Q(handler_releases, 0), Q(mask_stays, 0), Q(arrives_in_the_programs_thread, 0), Q(sigwait_gets_it, 0),
           Q(handlers_are_the_programs, 0), Q(interrupted_by_default, 138), Q(terminated_in_a_wait, 142),
           Q(handler_exits_in_a_wait, 5), Q(jumps_between_waits, 0), Q(on_an_alternate_stack, 0)})
