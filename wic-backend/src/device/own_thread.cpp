#include "src/device/own_thread.h"

#include <pthread.h>

#include <atomic>

namespace wic {

namespace {
std::atomic<void (*)()> prepare_thread{nullptr};
}

void enter_own_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
  if (void (*const prepare)() = prepare_thread) prepare();
}

void prepare_own_threads(void (*prepare)()) { prepare_thread = prepare; }

}  // namespace wic
