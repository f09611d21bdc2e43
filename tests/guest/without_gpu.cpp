// Questions that need no GPU: the driver is the test's (tests/cli/fake_gpu.h), the collector and wic-prof are real.
//   guest_without_gpu NAME...
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tests/cli/fake_gpu.h"
#include "tests/guest/ask.h"

extern char** environ;

using namespace guest;

namespace {

void* library() {
  static void* const loaded = dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  return loaded;
}
// The test's function of that name; found once per place, so that no later call asks the loader.
#define GUEST_TEXT(name) #name
#define CU(name)                                                                                     \
  ([] {                                                                                              \
    static const auto found = reinterpret_cast<decltype(&name)>(dlsym(library(), GUEST_TEXT(name))); \
    return found;                                                                                    \
  }())

void initialize() {
  if (CU(cuInit)(0) != CUDA_SUCCESS) std::_Exit(97);
}

CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream made = nullptr;
  CU(cuStreamCreate)(&made, flags);
  return made;
}
CUevent event() {
  CUevent made = nullptr;
  CU(cuEventCreate)(&made, CU_EVENT_DISABLE_TIMING);
  return made;
}
void launch(CUstream into, fake_gpu::Kernel kernel) {
  void* parameters[] = {&kernel};
  const auto function = reinterpret_cast<CUfunction>(64);
  CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, into, parameters, nullptr);
}
void busy(CUstream into, double ms) { launch(into, {static_cast<long long>(ms * 1e6)}); }
CUresult wait(CUstream one) { return CU(cuStreamSynchronize)(one); }
CUresult query(CUstream one) { return CU(cuStreamQuery)(one); }
CUresult wait(CUevent one) { return CU(cuEventSynchronize)(one); }
CUresult query(CUevent one) { return CU(cuEventQuery)(one); }
CUresult record(CUevent one, CUstream in) { return CU(cuEventRecord)(one, in); }
CUresult wait_for_device() { return CU(cuCtxSynchronize)(); }

/// The first wait at a place takes a profiler long: the place gets its name. No question is about that.
void prepare() {
  initialize();
  const CUevent none = event();
  wait(stream());
  wait(none);
  wait_for_device();
}

/// Ends the capture and says what it is.
void ends(CUstream captured, int code, std::size_t nodes) {
  CUgraph graph = nullptr;
  std::size_t count = 0;
  IS(CU(cuStreamEndCapture)(captured, &graph), code);
  if (graph != nullptr) CU(cuGraphGetNodes)(graph, nullptr, &count);
  IS(count, nodes);
}

// A word that a kernel waits for. Kernels outlive their question only where it says so.
struct Word {
  volatile unsigned value = 0;
};

CUstream late = nullptr;
void work(double ms = 3) {
  if (late == nullptr) late = stream();
  busy(late, ms);
  OK(wait(late));
}

// Streams.
void fed_by_another() {
  const CUstream fed = stream();
  Word word;
  busy(fed, 60);
  std::thread feeder([&] {
    pause_ms(20);
    launch(fed, {0, &word.value});
  });
  OK(wait(fed));  // for what was there at its entry
  feeder.join();
  IS(query(fed), CUDA_ERROR_NOT_READY);
  word.value = 1;
  OK(wait(fed));
}
void fed_until_the_wait_ends() {
  const CUstream fed = stream();
  std::atomic<bool> done{false};
  std::atomic<int> beyond{0};
  busy(fed, 3);
  std::thread feeder([&] {
    for (const double end = now_ms() + 1000; !done && beyond == 0; pause_ms(0.2)) {
      busy(fed, 0.5);
      beyond = now_ms() > end;
    }
  });
  OK(wait(fed));
  done = true;
  feeder.join();
  IS(beyond.load(), 0);
  OK(wait(fed));
}
// A kernel in a blocking stream, launched during the wait, releases an earlier one in another: nothing may come into
// the legacy stream between them.
template <class Wait>
void released_during(Wait waits) {
  const CUstream first = stream(CU_STREAM_DEFAULT), second = stream(CU_STREAM_DEFAULT);
  Word word;
  launch(first, {0, &word.value});
  std::thread other([&] {
    pause_ms(10);
    launch(second, {0, nullptr, &word.value});
  });
  const double begin = now_ms();
  waits(first);
  IS(now_ms() - begin < 1500, 1);  // a kernel that nothing releases ends after two seconds
  other.join();
  OK(wait_for_device());
}
void released_during_a_legacy_wait() {
  released_during([](CUstream) { OK(wait(CUstream{nullptr})); });
}
void released_during_a_stream_wait() {
  released_during([](CUstream first) { OK(wait(first)); });
}
void released_during_a_device_wait() {
  released_during([](CUstream) { OK(wait_for_device()); });
}
void released_during_an_event_wait() {
  released_during([](CUstream first) {
    const CUevent behind = event();
    OK(record(behind, first));
    OK(wait(behind));
  });
}
void legacy_waits_for_blocking_streams_only() {
  const CUstream blocking = stream(CU_STREAM_DEFAULT), apart = stream();
  Word word;
  launch(apart, {0, &word.value});
  busy(blocking, 3);
  OK(wait(CUstream{nullptr}));
  OK(query(blocking));
  IS(query(apart), CUDA_ERROR_NOT_READY);
  word.value = 1;
  OK(wait(apart));
}
void per_thread_stream_waits_for_itself() {
  const CUstream apart = stream();
  Word word;
  launch(apart, {0, &word.value});
  busy(CU_STREAM_PER_THREAD, 3);
  OK(wait(CU_STREAM_PER_THREAD));
  std::thread([] { OK(wait(CU_STREAM_PER_THREAD)); }).join();
  word.value = 1;
  OK(wait_for_device());
}
// Destroyed and made again with the same handle, between waits and while another thread still waits for its work.
void made_again_with_its_handle() {
  const CUstream one = stream();
  busy(one, 3);
  OK(wait(one));
  OK(CU(cuStreamDestroy)(one));
  const CUstream two = stream(CU_STREAM_DEFAULT);
  IS(two == one, 1);
  busy(two, 3);
  OK(wait(two));
  OK(query(two));
}
void made_again_while_waited_for() {
  const CUstream one = stream();
  Word first, second;
  launch(one, {0, &first.value});
  std::thread waits([&] { OK(wait(one)); });
  pause_ms(100);  // the thread may begin late
  OK(CU(cuStreamDestroy)(one));
  const CUstream two = stream();
  launch(two, {0, &second.value});
  first.value = 1;
  waits.join();  // not for the work of the new one
  IS(query(two), CUDA_ERROR_NOT_READY);
  second.value = 1;
  OK(wait(two));
}

// Events.
void recorded_anew() {
  const CUstream one = stream();
  const CUevent awaited = event();
  Word word;
  CUresult code{};
  busy(one, 80);
  OK(record(awaited, one));
  std::thread other([&] {
    pause_ms(40);
    launch(one, {0, &word.value});
    code = record(awaited, one);
  });
  OK(wait(awaited));
  other.join();
  OK(code);
  IS(query(awaited), CUDA_ERROR_NOT_READY);
  word.value = 1;
  OK(wait(awaited));
}
void never_recorded() {
  const CUevent one = event();
  OK(query(one));
  OK(wait(one));
}
void event_made_again_with_its_handle() {
  const CUstream one = stream();
  const CUevent gone = event();
  Word word;
  launch(one, {0, &word.value});
  OK(record(gone, one));
  OK(CU(cuEventDestroy)(gone));
  const CUevent next = event();
  IS(next == gone, 1);
  OK(wait(next));
  word.value = 1;
  OK(wait(one));
}
void no_handle() {
  IS(wait(reinterpret_cast<CUevent>(0x7770)), CUDA_ERROR_INVALID_HANDLE);
  IS(wait(reinterpret_cast<CUstream>(0x7770)), CUDA_ERROR_INVALID_HANDLE);
  OK(wait_for_device());
}

// Captures.
void wait_for_the_captured_stream() {
  for (const auto mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const CUstream captured = stream();
    OK(CU(cuStreamBeginCapture)(captured, mode));
    IS(wait(captured), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(wait(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ends(captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0);
    OK(wait(captured));
  }
}
void wait_for_a_captured_event() {
  const CUstream captured = stream();
  const CUevent inside = event();
  OK(CU(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(record(inside, captured));
  IS(wait(inside), CUDA_ERROR_CAPTURED_EVENT);
  ends(captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0);
}
void wait_in_a_capture_of_this_thread() {
  const CUstream captured = stream(), waited = stream();
  busy(waited, 3);
  OK(CU(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  IS(wait(waited), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ends(captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0);
  OK(CU(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  busy(captured, 1);
  busy(waited, 3);
  OK(wait(waited));
  ends(captured, 0, 1);
}
void legacy_wait_beside_a_capture() {
  const CUstream captured = stream(CU_STREAM_DEFAULT);
  OK(CU(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  IS(wait(CUstream{nullptr}), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  ends(captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0);
}
/// A capture by another thread begins while this one waits, and ends after it.
template <class Wait>
void begun_meanwhile(CUstreamCaptureMode mode, Wait waits) {
  const CUstream waited = stream(CU_STREAM_DEFAULT);
  const CUevent behind = event();
  Word word;
  std::atomic<bool> over{false};
  launch(waited, {0, &word.value});
  OK(record(behind, waited));
  std::thread other([&] {
    pause_ms(50);  // the wait may begin late
    const CUstream captured = stream(CU_STREAM_DEFAULT);
    CU(cuStreamBeginCapture)(captured, mode);
    busy(captured, 1);
    pause_ms(10);
    word.value = 1;
    until([&] { return over.load(); });
    busy(captured, 1);
    ends(captured, 0, 2);
  });
  waits(waited, behind);
  over = true;
  other.join();
}
void captures_begun_in_waits() {
  for (const auto mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    begun_meanwhile(mode, [](CUstream one, CUevent) { OK(wait(one)); });
    begun_meanwhile(mode, [](CUstream, CUevent one) { OK(wait(one)); });
    begun_meanwhile(mode, [](CUstream, CUevent) { OK(wait(CUstream{nullptr})); });
    begun_meanwhile(mode, [](CUstream, CUevent) { OK(wait_for_device()); });
  }
}
// After waits beside which nobody else began anything.
void capture_begun_in_a_later_device_wait() {
  const CUstream one = stream();
  for (int i = 0; i < 4; ++i) {
    busy(one, 3);
    OK(wait_for_device());
  }
  begun_meanwhile(CU_STREAM_CAPTURE_MODE_GLOBAL, [](CUstream, CUevent) { OK(wait_for_device()); });
}
void the_threads_capture_mode_stays() {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  CU(cuThreadExchangeStreamCaptureMode)(&mode);
  work();
  mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CU(cuThreadExchangeStreamCaptureMode)(&mode);
  IS(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

// Host functions.
void host_function_waits() {
  const CUstream one = stream();
  static std::atomic<int> code{-1};
  OK(CU(cuLaunchHostFunc)(
      one, [](void* of) { code = wait(static_cast<CUstream>(of)); }, one));
  OK(wait(one));
  IS(code.load(), CUDA_ERROR_NOT_PERMITTED);
}
void host_function_needs_a_thread_that_waits() {
  const CUstream one = stream();
  int code = -1;
  const CUstream apart = stream();
  OK(CU(cuLaunchHostFunc)(
      one, [](void*) { pause_ms(10); }, nullptr));
  std::thread other([&] { code = wait(apart); });
  OK(wait(one));
  other.join();
  IS(code, 0);
}

// Contexts.
void no_context() {
  CUcontext before = nullptr, now = nullptr;
  OK(CU(cuCtxPopCurrent)(&before));
  IS(wait_for_device(), CUDA_ERROR_INVALID_CONTEXT);
  OK(CU(cuCtxGetCurrent)(&now));
  IS(now == nullptr, 1);
  OK(CU(cuCtxPushCurrent)(before));
}
void own_context() {
  CUcontext before = nullptr, own = nullptr, now = nullptr;
  OK(CU(cuCtxGetCurrent)(&before));
  OK(CU(cuCtxCreate)(&own, nullptr, 0, 0));
  const CUstream inside = stream();
  const CUevent behind = event();
  busy(inside, 3);
  OK(record(behind, inside));
  OK(wait_for_device());
  OK(query(behind));
  OK(CU(cuCtxPopCurrent)(&now));
  busy(inside, 3);
  OK(wait(inside));  // while another one is current
  OK(wait(behind));
  OK(CU(cuCtxGetCurrent)(&now));
  IS(now == before, 1);
  OK(CU(cuCtxDestroy)(own));
  IS(wait(inside), CUDA_ERROR_INVALID_HANDLE);
  work();
}
// Made again with the handle of one that was destroyed: what was kept for that is of no use.
void context_made_again_with_its_handle() {
  CUcontext first = nullptr;
  for (int i = 0; i < 3; ++i) {
    CUcontext own = nullptr;
    OK(CU(cuCtxCreate)(&own, nullptr, 0, 0));
    if (first == nullptr) first = own;
    IS(own == first, 1);
    const CUstream inside = stream();
    busy(inside, 3);
    OK(wait(inside));
    busy(inside, 3);
    OK(wait_for_device());
    OK(CU(cuCtxDestroy)(own));
  }
}

// Threads.
void sixteen_wait_at_once() {
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 16; ++i) {
    all.emplace_back([&] {
      const CUstream one = stream();
      for (int k = 0; k < 3; ++k) {
        busy(one, 1);
        failed += wait(one) != CUDA_SUCCESS;
        failed += query(one) != CUDA_SUCCESS;
      }
    });
  }
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
void short_threads() {
  const CUstream one = stream();
  guest::in_short_threads([&] { wait(one); });
}
void small_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  OK(pthread_attr_setstacksize(&attributes, 32 * 1024));
  pthread_t thread{};
  OK(pthread_create(
      &thread, &attributes,
      [](void*) -> void* {
        for (int i = 0; i < 3; ++i) {
          busy(late, 3);
          wait(late);
        }
        return nullptr;
      },
      nullptr));
  pthread_join(thread, nullptr);
}
ucontext_t thread_context, fiber_context;
void fiber() {
  for (int i = 0; i < 3; ++i) {
    work();
    swapcontext(&fiber_context, &thread_context);
  }
}
void a_fiber_on_three_threads() {
  static char stack[256 * 1024];
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &thread_context;
  makecontext(&fiber_context, fiber, 0);
  for (int i = 0; i < 3; ++i) std::thread([] { swapcontext(&thread_context, &fiber_context); }).join();
}
// The constructor of a library that is loaded joins a thread that waits, while the first thread makes the first call of
// the process that a profiler watches.
void library_whose_constructor_waits() {
  initialize();
  static const auto waits = CU(cuStreamSynchronize);
  static const auto made = stream();
  static std::atomic<int> loading{0}, waited{0}, state{-1};
  const auto constructor = +[] {
    loading = 1;
    until([] { return waited == 1; });
    std::thread([] { state = waits(made); }).join();
  };
  char address[32];
  std::snprintf(address, sizeof address, "%lx", reinterpret_cast<unsigned long>(constructor));
  setenv("GUEST_CONSTRUCTOR", address, 1);
  std::thread loader([] { IS(dlopen(GUEST_LIBRARY, RTLD_NOW) != nullptr, 1); });
  until([] { return loading == 1; });
  OK(waits(made));
  waited = 1;
  loader.join();
  OK(state.load());
}

// Signals.
std::atomic<int> arrived{0};
void handle(int which, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(which, &action, nullptr);
}
void alarms_during_waits() {
  handle(SIGALRM, [](int) { ++arrived; });
  itimerval often{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const CUstream one = stream();
  for (int i = 0; i < 3; ++i) {
    busy(one, 20);
    OK(wait(one));
    OK(query(one));
  }
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  IS(arrived > 3, 1);
}
void handler_releases() {
  static Word word;
  handle(SIGALRM, [](int) { word.value = 1; });
  const CUstream one = stream();
  launch(one, {0, &word.value});
  const itimerval once{{0, 0}, {0, 20'000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  OK(wait(one));
  IS(word.value, 1);
}
void mask_and_errno_stay() {
  sigset_t blocked, now;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  busy(late, 10);
  errno = 77;
  const CUresult code = wait(late);
  IS(errno, 77);
  OK(code);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  IS(sigismember(&now, SIGUSR1), 1);
  IS(sigismember(&now, SIGTERM), 0);
}

// Processes.
void status_of(pid_t child, int stated) {
  int status = 0;
  waitpid(child, &status, 0);
  IS(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), stated);
}
void child_uses_cuda() {
  work();
  const pid_t child = fork();
  if (child == 0) {
    IS(wait(late), CUDA_ERROR_NOT_INITIALIZED);
    _exit(7);
  }
  status_of(child, 7);
  work();
}
void child_beside_a_wait() {
  const CUstream waited = stream();
  Word word;
  launch(waited, {0, &word.value});
  std::thread other([&] { OK(wait(waited)); });
  pause_ms(10);
  const pid_t child = fork();
  if (child == 0) std::exit(3);
  status_of(child, 3);
  word.value = 1;
  other.join();
}
void vfork_and_spawn() {
  work();
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 4", static_cast<char*>(nullptr));
    _exit(99);
  }
  status_of(child, 4);
  pid_t spawned = 0;
  const char* words[] = {"sh", "-c", "exit 6", nullptr};
  OK(posix_spawn(&spawned, "/bin/sh", nullptr, nullptr, const_cast<char**>(words), environ));
  status_of(spawned, 6);
  work();
}
void few_descriptors() {
  work();
  const int next = open("/dev/null", O_RDONLY);
  rlimit before{}, few{};
  getrlimit(RLIMIT_NOFILE, &before);
  few = {static_cast<rlim_t>(next) + 1, before.rlim_max};
  OK(setrlimit(RLIMIT_NOFILE, &few));
  work();
  OK(setrlimit(RLIMIT_NOFILE, &before));
  close(next);
}

// Ends: each in a process of its own.
struct Waits {
  const char* when;
  ~Waits() {
    busy(late, 2);
    say("%s: %d", when, static_cast<int>(wait(late)));
  }
};
void static_destructor_waits() {
  static Waits one{"static"};
  work();
  std::exit(7);
}
void thread_local_destructors_wait() {
  work();
  std::thread([] {
    thread_local Waits one{"of a thread"};
    (void)&one;
  }).join();
  thread_local Waits own{"of the first thread"};
  (void)&own;
  work();
  std::exit(8);
}
void key_destructor_waits() {
  work();
  std::thread([] {
    pthread_key_t key;
    pthread_key_create(&key, [](void*) {
      busy(late, 2);
      say("key: %d", static_cast<int>(wait(late)));
    });
    pthread_setspecific(key, &late);
  }).join();
}
void atexit_waits() {
  work();
  std::atexit([] {
    busy(late, 2);
    say("atexit: %d", static_cast<int>(wait(late)));
  });
  std::exit(5);
}
void quick_exit_waits() {
  work();
  std::at_quick_exit([] {
    busy(late, 2);
    say("at_quick_exit: %d", static_cast<int>(wait(late)));
  });
  std::quick_exit(6);
}
void leaves_a_thread_that_waits(void (*end)(int)) {
  static Word word;
  const CUstream one = stream();
  launch(one, {0, &word.value});
  std::thread([one] { wait(one); }).detach();
  pause_ms(20);
  end(9);
}
void exits_beside_a_wait() { leaves_a_thread_that_waits(std::exit); }
void underscore_exits_beside_a_wait() { leaves_a_thread_that_waits(_exit); }
void quick_exits_beside_a_wait() { leaves_a_thread_that_waits(std::quick_exit); }
void aborts_after_a_wait() {
  work();
  std::abort();
}
void first_thread_ends_first() {
  work();
  std::thread([] {
    pause_ms(10);
    work();
    std::exit(11);
  }).detach();
  pthread_exit(nullptr);
}
void cancelled_in_a_wait() {
  const CUstream one = stream();
  static Word word;
  launch(one, {0, &word.value});
  static std::atomic<int> after{0};
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void* of) -> void* {
        after = 1 + wait(static_cast<CUstream>(of));
        pthread_testcancel();
        after = 100;
        return nullptr;
      },
      one);
  pause_ms(20);
  pthread_cancel(thread);
  pause_ms(20);
  IS(after.load(), 0);
  word.value = 1;
  void* result = nullptr;
  pthread_join(thread, &result);
  IS(result == PTHREAD_CANCELED, 1);
  IS(after.load(), 1);
}
void closes_all_descriptors() {
  for (int i = 3; i < 256; ++i) close(i);
  initialize();
  for (int i = 3; i < 256; ++i) close(i);
  const int file = open("/dev/null", O_RDWR);
  IS(file, 3);
  work();
  work();
  OK(close(file));
}
void execs_beside_a_wait() {
  static Word word;
  const CUstream one = stream();
  launch(one, {0, &word.value});
  std::thread([one] { wait(one); }).detach();
  pause_ms(10);
  execl("/bin/sh", "sh", "-c", "exit 22", static_cast<char*>(nullptr));
}
void handler_exits_in_a_wait() {
  handle(SIGUSR1, [](int) { _exit(5); });
  static Word word;
  const CUstream one = stream();
  launch(one, {0, &word.value});
  std::thread([] {
    pause_ms(10);
    kill(getpid(), SIGUSR1);
  }).detach();
  wait(one);
}

}  // namespace

// `alone` means here: in a process of its own.
#define Q(name) \
  { #name, name }
#define ENDS(name, status) \
  { #name, name, status, true }
QUESTIONS_FOR((guest::Machine{prepare, [] { return 0LL; }}),
              {{"library_whose_constructor_waits", library_whose_constructor_waits, 0, true, 0},
               {"capture_begun_in_a_later_device_wait", capture_begun_in_a_later_device_wait, 0, true, 0},
               Q(fed_by_another),
               Q(fed_until_the_wait_ends),
               Q(released_during_a_legacy_wait),
               Q(released_during_a_stream_wait),
               Q(released_during_a_device_wait),
               Q(released_during_an_event_wait),
               Q(legacy_waits_for_blocking_streams_only),
               Q(per_thread_stream_waits_for_itself),
               Q(made_again_with_its_handle),
               Q(made_again_while_waited_for),
               Q(recorded_anew),
               Q(never_recorded),
               Q(event_made_again_with_its_handle),
               Q(no_handle),
               Q(wait_for_the_captured_stream),
               Q(wait_for_a_captured_event),
               Q(wait_in_a_capture_of_this_thread),
               Q(legacy_wait_beside_a_capture),
               Q(captures_begun_in_waits),
               Q(the_threads_capture_mode_stays),
               Q(host_function_waits),
               Q(host_function_needs_a_thread_that_waits),
               Q(no_context),
               Q(own_context),
               Q(context_made_again_with_its_handle),
               Q(sixteen_wait_at_once),
               Q(short_threads),
               Q(small_stacks),
               Q(a_fiber_on_three_threads),
               Q(alarms_during_waits),
               Q(handler_releases),
               Q(mask_and_errno_stay),
               Q(child_uses_cuda),
               Q(child_beside_a_wait),
               Q(vfork_and_spawn),
               Q(few_descriptors),
               ENDS(static_destructor_waits, 7),
               ENDS(thread_local_destructors_wait, 8),
               ENDS(key_destructor_waits, 0),
               ENDS(atexit_waits, 5),
               ENDS(quick_exit_waits, 6),
               ENDS(exits_beside_a_wait, 9),
               ENDS(underscore_exits_beside_a_wait, 9),
               ENDS(quick_exits_beside_a_wait, 9),
               ENDS(aborts_after_a_wait, 134),
               ENDS(first_thread_ends_first, 11),
               ENDS(cancelled_in_a_wait, 0),
               {"closes_all_descriptors", closes_all_descriptors, 0, true, 0},
               ENDS(execs_beside_a_wait, 22),
               ENDS(handler_exits_in_a_wait, 5)})
