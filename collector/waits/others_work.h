// Whether other threads begin work that a thread's call would wait for, too, if it went on later: into its stream, or
// anywhere where the call waits for the legacy default stream or a device. There wic-prof waits in the call's place
// only while nobody else begins work, and gives way to whoever does, since no event of ours can stand for what is in
// front of the call without the driver putting it in front of other streams' work.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "protocol/time.h"

namespace wicprof::collector {

/// Any thread, unless a function says otherwise.
class OthersWork {
  struct Entry {
    std::uint32_t thread = 0;
    CUstream stream = nullptr;  // nullptr: all
    bool gives_way = false;
    std::atomic<bool> interrupted{false}, gone{false};
  };

 public:
  /// `longest_step`: for so long at most whoever begins work waits for calls to go on.
  explicit OthersWork(TimeNs longest_step = kMillisecond) : longest_step_(longest_step) {}
  OthersWork(const OthersWork&) = delete;
  OthersWork& operator=(const OthersWork&) = delete;

  /// `watch(on)`: enables or disables the callbacks at whose entry begins() is to be called: of launches; those of
  /// copies and captures are always on. `wake`: has sleeping waits look at interrupted().
  void on_watching(std::function<void(bool)> watch, std::function<void()> wake) {
    watch_ = std::move(watch);
    wake_ = std::move(wake);
  }

  /// Whether nobody has begun work lately while another thread waited for all, as far as is known.
  bool quiet() const { return now_ns() >= noisy_until_.load(std::memory_order_relaxed); }

  /// A thread's wait, from its begin until the thread's call goes on.
  class Wait {
   public:
    /// `stream`: whose work matters; nullptr: that of all. `gives_way`: the call has to go on before others begin it.
    Wait(OthersWork& others, std::uint32_t thread, CUstream stream, bool gives_way);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    bool interrupted() const { return entry_->interrupted.load(std::memory_order_acquire); }

   private:
    OthersWork& others_;
    std::shared_ptr<Entry> entry_;
  };

  /// The thread is about to begin work in the stream, or a capture. CU_STREAM_PER_THREAD is the thread's own. Waits
  /// until the calls that have to go on before have done so, a tenth of a millisecond, at most one; once, since nobody
  /// waits in wic-prof like that for the next seconds.
  void begins(std::uint32_t thread, CUstream stream);

  /// Every 100 ms or so: watches the launches for a second, and then for a tenth of each second, since a callback takes
  /// a launch 0.4 us. One thread.
  void tick();

 private:
  void watch(bool on);

  const TimeNs longest_step_;
  std::function<void(bool)> watch_;
  std::function<void()> wake_;
  std::atomic<int> count_{0};
  std::atomic<TimeNs> noisy_until_{0};
  std::atomic<bool> used_{false}, watching_{false};
  std::atomic<int> ticks_{0};  // since the first wait
  int idle_ticks_ = 0;
  std::mutex mutex_;  // of the list
  std::vector<std::shared_ptr<Entry>> waits_;
};

}  // namespace wicprof::collector
