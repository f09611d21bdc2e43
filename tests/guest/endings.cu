// Ends of a program and of its threads, in every way.
#include "tests/guest/gpu.h"

#include <pthread.h>
#include <signal.h>

using namespace guest;

namespace {

cudaStream_t late = nullptr;

/// Waits for a stream when it is destroyed.
struct Waits {
  const char* when;
  ~Waits() {
    if (late == nullptr) return;
    busy_kernel<<<1, 1, 0, late>>>(3'000'000);
    say("%s: %d", when, static_cast<int>(cudaStreamSynchronize(late)));
  }
};
Waits& static_one() {
  static Waits one{"static"};
  return one;
}
Waits& thread_local_one() {
  thread_local Waits one{"thread-local"};
  return one;
}

void work() {
  late = stream();
  busy(late, 5);
  OK(cudaStreamSynchronize(late));
}
/// A detached thread that waits until the process ends (a kernel holds its stream for two seconds).
void waits_for_ever() {
  static const Word word;
  const cudaStream_t one = stream();
  hold(one, word);
  std::thread([one] { cudaStreamSynchronize(one); }).detach();
  pause_ms(20);
}

}  // namespace

void returns() { work(); }
void static_destructor_waits() {
  static_one();
  work();
  std::exit(7);
}
void static_destructor_of_a_later_object() {
  work();
  static_one();
  std::exit(7);
}
void thread_local_destructor_waits() {
  work();
  std::thread([] { thread_local_one(); }).join();
}
void thread_local_destructor_after_a_wait() {
  std::thread([] {
    thread_local_one();
    work();
  }).join();
}
void thread_local_destructor_of_the_first_thread() {
  thread_local_one();
  work();
  std::exit(7);
}
void key_destructor_waits() {
  work();
  std::thread([] {
    pthread_key_t key;
    pthread_key_create(&key, [](void*) {
      busy(late, 3);
      say("key: %d", static_cast<int>(cudaStreamSynchronize(late)));
    });
    pthread_setspecific(key, &late);
  }).join();
}
void atexit_waits() {
  std::atexit([] { say("atexit: %d", static_cast<int>(cudaStreamSynchronize(late))); });
  work();
  busy(late, 3);
  std::exit(5);
}
void calls_exit() {
  work();
  std::exit(3);
}
void calls_exit_with_work_in_flight() {
  work();
  busy(late, 50);
  std::exit(3);
}
void calls_exit_in_another_thread() {
  work();
  std::thread([] { std::exit(4); }).join();
}
void calls_underscore_exit() {
  work();
  busy(late, 20);
  _exit(6);
}
void calls_quick_exit() {
  std::at_quick_exit([] { say("at_quick_exit: %d", static_cast<int>(cudaStreamSynchronize(late))); });
  work();
  busy(late, 3);
  std::quick_exit(8);
}
void aborts() {
  work();
  std::abort();
}
void raises_sigterm() {
  work();
  raise(SIGTERM);
}
void raises_sigkill() {
  work();
  raise(SIGKILL);
}
void crashes() {
  work();
  signal(SIGSEGV, SIG_DFL);
  *reinterpret_cast<volatile int*>(8) = 1;
}
void throws() {
  work();
  throw 1;
}
void exits_while_a_detached_thread_waits() {
  waits_for_ever();
  std::exit(9);
}
void returns_while_a_detached_thread_waits() { waits_for_ever(); }
void underscore_exit_while_a_detached_thread_waits() {
  waits_for_ever();
  _exit(9);
}
void quick_exit_while_a_detached_thread_waits() {
  waits_for_ever();
  std::quick_exit(9);
}
void exits_while_detached_threads_launch() {
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      const cudaStream_t one = stream();
      for (;;) {
        busy(one, 0.1);
        if (cudaStreamSynchronize(one) != cudaSuccess) pause_ms(1);
      }
    }).detach();
  }
  pause_ms(50);
  _exit(9);
}
// The first thread ends before the others.
void first_thread_ends_first() {
  work();
  std::thread([] {
    pause_ms(20);
    busy(late, 5);
    OK(cudaStreamSynchronize(late));
    std::exit(11);
  }).detach();
  pthread_exit(nullptr);
}
// A thread that waits in CUDA has no point of cancellation natively: it ends after its wait.
void cancelled_in_a_wait() {
  const cudaStream_t one = stream();
  const Word word;
  hold(one, word);
  static std::atomic<int> after{0};
  pthread_t thread{};
  pthread_create(&thread, nullptr, [](void* of) -> void* {
    after = 1 + static_cast<int>(cudaStreamSynchronize(static_cast<cudaStream_t>(of)));
    pthread_testcancel();
    after = 100;
    return nullptr;
  }, one);
  pause_ms(20);
  pthread_cancel(thread);
  pause_ms(20);
  IS(after.load(), 0);
  word.set();
  void* result = nullptr;
  pthread_join(thread, &result);
  IS(result == PTHREAD_CANCELED, 1);
  IS(after.load(), 1);
  OK(cudaStreamSynchronize(one));
}
void pthread_exit_after_waits() {
  static cudaStream_t one = stream();
  for (int i = 0; i < 20; ++i) {
    pthread_t thread{};
    pthread_create(&thread, nullptr, [](void*) -> void* {
      busy(one, 0.2);
      cudaStreamSynchronize(one);
      pthread_exit(&one);
    }, nullptr);
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result != &one) say("thread %d: no result", i);
  }
  OK(cudaStreamSynchronize(one));
}
void device_reset_at_the_end() {
  work();
  OK(cudaDeviceReset());
  std::exit(2);
}
void reset_and_again() {
  for (int i = 0; i < 3; ++i) {
    work();
    OK(cudaDeviceReset());
  }
}
void never_uses_cuda() { std::exit(12); }
void initializes_only() {
  OK(cuInit(0));
  std::exit(13);
}

#define Q(name, status) \
  { #name, name, status }
QUESTIONS({Q(returns, 0), Q(static_destructor_waits, 7), Q(static_destructor_of_a_later_object, 7),
           Q(thread_local_destructor_waits, 0), Q(thread_local_destructor_after_a_wait, 0),
           Q(thread_local_destructor_of_the_first_thread, 7), Q(key_destructor_waits, 0), Q(atexit_waits, 5),
           Q(calls_exit, 3), Q(calls_exit_with_work_in_flight, 3), Q(calls_exit_in_another_thread, 4),
           Q(calls_underscore_exit, 6), Q(calls_quick_exit, 8), Q(aborts, 134), Q(raises_sigterm, 143),
           Q(raises_sigkill, 137), Q(crashes, 139), Q(throws, 134), Q(exits_while_a_detached_thread_waits, 9),
           Q(returns_while_a_detached_thread_waits, 0), Q(underscore_exit_while_a_detached_thread_waits, 9),
           Q(quick_exit_while_a_detached_thread_waits, 9), Q(exits_while_detached_threads_launch, 9),
           Q(first_thread_ends_first, 11), Q(cancelled_in_a_wait, 0), Q(pthread_exit_after_waits, 0),
           Q(device_reset_at_the_end, 2), Q(reset_and_again, 0), {"never_uses_cuda", never_uses_cuda, 12, false, 0},
           {"initializes_only", initializes_only, 13, false, 0}})
