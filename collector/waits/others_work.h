// Whether other threads begin work that a thread's call would wait for, too, if it went on later: into its stream, or
// anywhere where the call waits for the legacy default stream or a device. There wic-prof waits in the call's place
// only while nobody else begins work, and gives way to whoever does, since no event of ours can stand for what is in
// front of the call without the driver putting it in front of other streams' work. And whether other threads begin a
// capture, which forbids most calls that come after it: a call that wic-prof has held back came before it.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/waits/way_to_driver.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// For so long at most, whoever begins something waits for the calls that have to go on before. A launch that comes too
/// early makes a wait longer; a capture makes a call fail. Neither is calibrated.
struct Patience {
  TimeNs work = kMillisecond, capture = 100 * kMillisecond;
};

/// Whose work matters to a wait, next to captures, which always do.
enum class Whose : std::uint8_t { nobodys, streams, everybodys };

/// Any thread, unless a function says otherwise.
class OthersWork {
  struct Entry {
    std::uint32_t thread = 0;
    Whose whose = Whose::nobodys;
    CUstream stream = nullptr;
    std::atomic<bool> gives_way{false}, interrupted{false};
    WayToDriver way;
  };

 public:
  explicit OthersWork(Patience patience = {}) : patience_(patience) {}
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

  /// Whether a call in whose place wic-prof has waited has not returned yet, as far as callbacks tell.
  bool any() const { return count_.load() != 0; }

  /// The calling thread's wait, until its call has returned.
  class Wait {
   public:
    /// `stream`: for Whose::streams.
    Wait(OthersWork& others, std::uint32_t thread, Whose whose, CUstream stream = nullptr);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    /// From now on the call has to go on before others begin what matters to it.
    void give_way() { entry_->gives_way.store(true); }
    /// Whether somebody else has begun work that matters, or a capture to which the call gives way.
    bool interrupted() const { return entry_->interrupted.load(std::memory_order_acquire); }
    bool has_to_go_on() const { return entry_->gives_way.load() && interrupted(); }
    /// wic-prof waits no longer in the call's place: whoever begins what matters comes after the call.
    void leaves() { entry_->way.begins(); }
    /// The thread is about to return to the driver.
    void returns() { entry_->way.leaves_callback(); }

   private:
    OthersWork& others_;
    std::shared_ptr<Entry> entry_;
  };

  /// The thread is about to begin work in the stream. CU_STREAM_PER_THREAD is the thread's own. Waits until the calls
  /// that have to go on before have reached the driver: some 50 us, and once, since nobody waits in wic-prof for a
  /// device or for the legacy stream for the next seconds.
  void begins(std::uint32_t thread, CUstream stream);
  /// Likewise with a capture. Comes after OpenCaptures::called(), so that a wait that leaves meanwhile knows of it.
  void begins_capture(std::uint32_t thread);

  /// Every 100 ms or so: the launches are watched no longer once nobody has waited for two seconds, since a callback
  /// takes a launch 0.4 us. One thread.
  void tick();

 private:
  static constexpr int kIdleTicks = 20;  // not calibrated

  void watch(bool on);  // with watch_mutex_ held
  /// Whether a thread waits to whom the work of others matters.
  bool some_wait();
  /// Waits for those among `matters(entry)` that have to go on before.
  void come_after(std::uint32_t thread, TimeNs patience, const std::function<bool(const Entry&)>& matters);
  /// Takes the entry off the list. No effect where it is not on it.
  void remove(const std::shared_ptr<Entry>& entry);

  const Patience patience_;
  std::function<void(bool)> watch_;
  std::function<void()> wake_;
  std::atomic<std::size_t> count_{0};  // of the list
  std::atomic<TimeNs> noisy_until_{0};
  std::atomic<bool> used_{false};
  std::mutex watch_mutex_;  // so that the callbacks are as `watching_` says; before mutex_
  bool watching_ = false;
  int idle_ticks_ = kIdleTicks;  // nobody has waited yet
  std::mutex mutex_;             // of the list
  std::vector<std::shared_ptr<Entry>> waits_;
};

}  // namespace wicprof::collector
