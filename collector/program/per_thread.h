// What the collector keeps for each thread of the program.
#pragma once

#include <pthread.h>

#include <functional>
#include <stdexcept>

namespace wicprof::collector {

/// One State per thread, made at the thread's first here() and freed at its end. Not a thread_local: its destructor
/// would run before the destructors of the program's static objects, which may call CUDA, and registering that
/// destructor takes the loader's lock, which a thread in dlopen() may hold until the calling thread has waited. A key
/// of POSIX threads needs no lock; it frees the state after all thread_local objects, and at the program's end not at
/// all. A thread that calls CUDA after that gets a new state, which is freed as well. Make objects of static lifetime
/// only.
template <class State>
class PerThread {
 public:
  /// `shared`: what each state is made from; outlives them all.
  template <class... Shared>
  explicit PerThread(Shared&... shared)
      : make_new_([&shared...] { return new State(shared...); }),
        usable_(pthread_key_create(&key_, [](void* state) { delete static_cast<State*>(state); }) == 0) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  /// Throws where the system has no memory, or the program has used up all keys: nothing can be recorded then.
  State& here() {
    State* const found = if_made();
    return found != nullptr ? *found : make();
  }
  /// nullptr: the thread has none yet.
  State* if_made() const { return usable_ ? static_cast<State*>(pthread_getspecific(key_)) : nullptr; }

 private:
  __attribute__((noinline)) State& make() {
    State* const state = make_new_();
    if (usable_ && pthread_setspecific(key_, state) == 0) return *state;
    delete state;
    throw std::runtime_error("the process has no room for data of threads (PTHREAD_KEYS_MAX)");
  }

  const std::function<State*()> make_new_;
  pthread_key_t key_{};
  const bool usable_;
};

}  // namespace wicprof::collector
