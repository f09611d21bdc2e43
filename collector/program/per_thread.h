// What the collector keeps for each thread of the program.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_set>

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
        usable_(pthread_key_create(&key_, [](void* place) { thread_ends(static_cast<Place*>(place)); }) == 0) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  /// Throws where the system has no memory, or the program has used up all keys: nothing can be recorded then.
  State& here() {
    Place* const place = own_place();
    return place != nullptr && place->state != nullptr ? *place->state : make(place);
  }
  /// nullptr: the thread has none yet.
  State* if_made() const {
    const Place* const place = own_place();
    return place == nullptr ? nullptr : place->state.get();
  }

  /// Frees the states of all threads, after `last(state)`: each thread has a new one made when it needs one. No thread
  /// may use its own meanwhile, but threads may end.
  template <class Last>
  void forget(Last&& last) {
    const std::lock_guard lock(all_->mutex);
    for (Place* const place : all_->places) {
      if (place->state == nullptr) continue;
      last(*place->state);
      place->state.reset();
    }
  }

 private:
  struct All;
  struct Place {
    std::unique_ptr<State> state;
    std::shared_ptr<All> all;
  };
  struct All {
    std::mutex mutex;  // guards the places, but not their states, which are the threads'
    std::unordered_set<Place*> places;
    const pid_t process = getpid();
  };

  Place* own_place() const { return usable_ ? static_cast<Place*>(pthread_getspecific(key_)) : nullptr; }

  static void thread_ends(Place* place) {
    const std::shared_ptr<All> all = place->all;
    // In the child of a fork the lock may stay locked forever.
    std::unique_lock lock(all->mutex, std::defer_lock);
    if (all->process == getpid()) lock.lock();
    if (lock) all->places.erase(place);
    delete place;
  }

  __attribute__((noinline)) State& make(Place* place) {
    std::unique_ptr<State> made(make_new_());
    if (place == nullptr) {
      auto added = std::make_unique<Place>();
      added->all = all_;
      const std::lock_guard lock(all_->mutex);
      all_->places.insert(added.get());
      if (!usable_ || pthread_setspecific(key_, added.get()) != 0) {
        all_->places.erase(added.get());
        throw std::runtime_error("the process has no room for data of threads (PTHREAD_KEYS_MAX)");
      }
      place = added.release();
    }
    place->state = std::move(made);
    return *place->state;
  }

  const std::function<State*()> make_new_;
  const std::shared_ptr<All> all_ = std::make_shared<All>();
  pthread_key_t key_{};
  const bool usable_;
};

}  // namespace wicprof::collector
