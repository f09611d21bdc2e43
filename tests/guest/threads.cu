// Many threads, short ones, small ones, fibers, and libraries that wait while they are loaded.
#include "tests/guest/gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <ucontext.h>

using namespace guest;

namespace {

void on_a_stack_of(std::size_t bytes) {
  static cudaStream_t one = stream();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  OK(pthread_attr_setstacksize(&attributes, bytes));
  pthread_t thread{};
  for (int i = 0; i < 3; ++i) {
    busy(one, 4);
    OK(pthread_create(
        &thread, &attributes,
        [](void*) -> void* {
          OK(cudaStreamSynchronize(one));
          return nullptr;
        },
        nullptr));
    pthread_join(thread, nullptr);
  }
}

}  // namespace

void sixty_four_wait_at_once() {
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 64; ++i) {
    all.emplace_back([&] {
      const cudaStream_t one = stream();
      for (int k = 0; k < 5; ++k) {
        busy(one, 1);
        failed += cudaStreamSynchronize(one) != cudaSuccess;
        failed += cudaStreamQuery(one) != cudaSuccess;
      }
    });
  }
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
void five_hundred_wait_at_once() {
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  const cudaStream_t one = stream();
  const Word word, timed_out;
  hold(one, word, 1, &timed_out);
  for (int i = 0; i < 500; ++i) all.emplace_back([&] { failed += cudaStreamSynchronize(one) != cudaSuccess; });
  pause_ms(50);
  word.set();
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
  IS(*timed_out.at, 0u);
}
void all_wait_for_one_stream() {
  const cudaStream_t one = stream();
  const Word word;
  hold(one, word);
  std::atomic<int> failed{0}, done{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 32; ++i) {
    all.emplace_back([&] {
      failed += cudaStreamSynchronize(one) != cudaSuccess;
      ++done;
    });
  }
  pause_ms(30);
  IS(done.load(), 0);
  word.set();
  for (std::thread& each : all) each.join();
  IS(failed.load(), 0);
}
// A thread per request: what each leaves behind must not grow.
void short_threads() {
  static cudaStream_t one = stream();
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 4096));
  int failed = 0;
  // 120 us for each of the 4,000: what CUPTI's records of copies take by themselves (docs/results/short_threads.*).
  const Timed timed("short threads", 480);
  guest::in_short_threads([&] {
    char to[4096];
    failed += cudaMemcpyAsync(to, memory, sizeof to, cudaMemcpyDeviceToHost, one) != cudaSuccess;
    failed += cudaStreamSynchronize(one) != cudaSuccess;
  });
  IS(failed, 0);
}
void launches_beside_waiters() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // the launches must not share a queue with a kernel that is held
  prepare();
  const Word word;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([&] {
      const cudaStream_t one = stream();
      hold(one, word);
      cudaStreamSynchronize(one);
    });
  }
  pause_ms(20);
  const cudaStream_t mine = stream();
  {
    const Timed timed("5000 launches", 2);
    for (int i = 0; i < 5000; ++i) busy_kernel<<<1, 1, 0, mine>>>(0);
  }
  OK(cudaGetLastError());
  word.set();
  for (std::thread& each : all) each.join();
}
void counts_its_threads() {
  const cudaStream_t one = stream();
  const int before = entries("/proc/self/task");
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      busy(one, 0.5);
      cudaStreamSynchronize(one);
    }).join();
  }
  IS(entries("/proc/self/task") - before <= 5, 1);  // none of the 50; a profiler that joins has as many (run.py)
}
void stack_of_64_kb() { on_a_stack_of(64 * 1024); }
void stack_of_32_kb() { on_a_stack_of(32 * 1024); }

// Fibers: a wait on a stack of the program's own, and one that another thread ends.
namespace {
ucontext_t thread_context, fiber_context;
cudaStream_t fibers_stream = nullptr;
void fiber() {
  for (int i = 0; i < 3; ++i) {
    busy(fibers_stream, 4);
    OK(cudaStreamSynchronize(fibers_stream));
    swapcontext(&fiber_context, &thread_context);
  }
}
}  // namespace
void fibers() {
  static char stack[256 * 1024];
  fibers_stream = stream();
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &thread_context;
  makecontext(&fiber_context, fiber, 0);
  for (int i = 0; i < 3; ++i) {
    swapcontext(&thread_context, &fiber_context);
    busy(fibers_stream, 2);
    OK(cudaStreamSynchronize(fibers_stream));
  }
}
void a_fiber_on_two_threads() {
  static char stack[256 * 1024];
  fibers_stream = stream();
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &thread_context;
  makecontext(&fiber_context, fiber, 0);
  for (int i = 0; i < 3; ++i) std::thread([] { swapcontext(&thread_context, &fiber_context); }).join();
  OK(cudaGetLastError());
}

// The constructor of a library that is being loaded joins a thread that waits in CUDA, while the first thread makes its
// first call that a profiler watches. The library calls back, since loading is refused to its own thread.
void library_whose_constructor_waits() {
  static cudaStream_t mine = nullptr, theirs = nullptr;
  static std::atomic<int> loading{0}, code{-1};
  mine = stream();
  theirs = stream();
  busy(mine, 40);
  const auto constructor = +[] {
    loading = 1;
    pause_ms(20);
    std::thread([] {
      busy(theirs, 5);
      code = cudaStreamSynchronize(theirs);
    }).join();
  };
  char address[32];
  std::snprintf(address, sizeof address, "%lx", reinterpret_cast<unsigned long>(constructor));
  setenv("GUEST_CONSTRUCTOR", address, 1);
  std::thread loader([] { IS(dlopen(GUEST_LIBRARY, RTLD_NOW) != nullptr, 1); });
  until([] { return loading == 1; });
  pause_ms(5);
  const cudaError_t own = cudaStreamSynchronize(mine);
  loader.join();
  OK(own);
  OK(code.load());
}
// It has a runtime of its own.
void library_that_used_cuda_is_closed() {
  for (int i = 0; i < 3; ++i) {
    void* const library = dlopen(LOADED_LIBRARY, RTLD_NOW);
    const auto use = reinterpret_cast<int (*)()>(library == nullptr ? nullptr : dlsym(library, "guest_use_cuda"));
    IS(use != nullptr, 1);
    if (use != nullptr) OK(use());
    OK(dlclose(library));
  }
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
}
void contexts_in_threads_that_have_none() {
  CUcontext context = nullptr;
  std::thread([&] {
    IS(cuCtxGetCurrent(&context), 0);
    IS(context != nullptr, 0);
    IS(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxGetCurrent(&context), 0);
    IS(context != nullptr, 0);
  }).join();
}
void affinity_stays() {
  cpu_set_t one, after;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  OK(pthread_setaffinity_np(pthread_self(), sizeof one, &one));
  const cudaStream_t waited = stream();
  busy(waited, 5);
  OK(cudaStreamSynchronize(waited));
  OK(pthread_getaffinity_np(pthread_self(), sizeof after, &after));
  IS(CPU_EQUAL(&one, &after), 1);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(sixty_four_wait_at_once),
           Q(five_hundred_wait_at_once),
           Q(all_wait_for_one_stream),
           {"short_threads", short_threads, 0, true},
           {"launches_beside_waiters", launches_beside_waiters, 0, true, 0},
           Q(counts_its_threads),
           Q(stack_of_64_kb),
           Q(stack_of_32_kb),
           Q(fibers),
           Q(a_fiber_on_two_threads),
           Q(library_whose_constructor_waits),
           Q(library_that_used_cuda_is_closed),
           Q(contexts_in_threads_that_have_none),
           Q(affinity_stays)})
