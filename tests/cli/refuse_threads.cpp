// Preloaded by test_refused_threads.py: refuses threads, as the system does beyond a limit of processes.
// WICPROF_TEST_CALLER: a part of the file's name that asks for them; WICPROF_TEST_REFUSE: the number of the one thread
// that is refused, from 0, or `all`; WICPROF_TEST_THREADS: a file that gets a byte per thread that is asked for.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* of) {
  static std::atomic<int> asked{0};
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  Dl_info caller{};
  const char* const asks_for_them = std::getenv("WICPROF_TEST_CALLER");
  const char* const file = std::getenv("WICPROF_TEST_THREADS");
  const char* const refused = std::getenv("WICPROF_TEST_REFUSE");
  if (asks_for_them != nullptr && file != nullptr && refused != nullptr &&
      dladdr(__builtin_return_address(0), &caller) != 0 && std::strstr(caller.dli_fname, asks_for_them) != nullptr) {
    const int asks = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool noted = write(asks, "t", 1) == 1;
    close(asks);
    if (!noted || std::strcmp(refused, "all") == 0 || asked++ == std::atoi(refused)) return EAGAIN;
  }
  return create(thread, attributes, run, of);
}
