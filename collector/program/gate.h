// The way of the program's threads into an object of ours that may be taken away while they run.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wicprof::collector {

/// Any thread. Threads count themselves in and out in one of several places, so that they do not contend for one word.
template <class Object>
class Gate {
 public:
  /// From now on the object is reached.
  void open(Object& object) { object_.store(&object); }
  /// From now on nobody reaches it who has not come in before.
  void close() { object_.store(nullptr); }

  /// After close(): whether all that came in before have left. Looks at each place until it has seen it empty once:
  /// whoever comes in later finds the gate closed.
  bool is_left() {
    while (seen_empty_ < kPlaces && places_[seen_empty_].inside.load() == 0) ++seen_empty_;
    if (seen_empty_ < kPlaces) return false;
    seen_empty_ = 0;
    return true;
  }

  /// A thread's visit. Visits may nest.
  class Visit {
   public:
    explicit Visit(Gate& gate) : inside_(gate.places_[place_of_thread()].inside) {
      inside_.fetch_add(1);  // before the load, for all threads: close() comes before or after both
      object_ = gate.object_.load();
    }
    ~Visit() { inside_.fetch_sub(1, std::memory_order_release); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    /// nullptr: the gate is closed.
    Object* object() const { return object_; }

   private:
    std::atomic<std::uint32_t>& inside_;
    Object* object_ = nullptr;
  };

 private:
  static constexpr std::size_t kPlaces = 64;
  static std::size_t place_of_thread() {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(pthread_self()) * 0x9e3779b97f4a7c15u) >> 58);
  }
  struct Place {
    alignas(64) std::atomic<std::uint32_t> inside{0};
  };
  std::atomic<Object*> object_{nullptr};
  std::array<Place, kPlaces> places_;
  std::size_t seen_empty_ = 0;  // of the thread that closes
};

}  // namespace wicprof::collector
