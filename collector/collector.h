// The collector: subscribes to CUPTI, provides buffers, and translates the records in them to events on one ring.
//
// It is a guest in the program: it never waits for the GPU, and it delays a thread of the program by one record at
// most.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collector/capture_switch.h"
#include "collector/cupti/buffer_pool.h"
#include "collector/cupti/cupti_api.h"
#include "collector/program/environment.h"
#include "collector/program/gate.h"
#include "collector/program/periodic_thread.h"
#include "collector/sources/source.h"
#include "protocol/event_sink.h"
#include "protocol/ring_pages.h"

namespace wicprof::collector {

/// One at a time in a process. Destroyed after detach() alone: else CUPTI and the program's threads may call it until
/// the process ends.
class Collector {
 public:
  /// How long it stays.
  enum class Stay {
    for_good,  ///< begun within cuInit(), and until the process ends
    for_now    ///< begun at any time later, and until detach()
  };

  /// `ring`: the sink's. `control`: the session's, which says when to record.
  Collector(const CuptiApi& api, EventSink& sink, RingHeader* ring, const Environment& environment,
            const ControlBlock* control, Stay stay = Stay::for_good);

  /// Called within cuInit(), or on a thread of ours later. After an error nothing is recorded, and another tool can
  /// subscribe to CUPTI. A source that cannot be enabled becomes a loss event, and the other sources record. `sources`:
  /// at least one; without sources CUPTI is not needed, and stays free for the program's own profiler.
  Result<> start(std::vector<std::unique_ptr<Source>> sources);

  /// At exit: flushes CUPTI's remaining records, closes open ranges, and ignores all later callbacks.
  void stop();

  /// Of Stay::for_now: does what stop() does, and ends the subscription. Returns once no thread of the program is in a
  /// callback, and no thread of ours runs, however long that takes. On a thread of ours.
  void detach();

  /// Ignores all later callbacks. Takes no lock and makes no system call: for the child of a fork, which must not write
  /// to its parent's ring.
  void switch_off() { off_.store(true, std::memory_order_relaxed); }

 private:
  template <class Work>
  static bool visit(Work&& work);
  void leave_callbacks();
  void read_the_rest();

  void on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  void on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  void on_buffer_completed(std::uint8_t* buffer, std::size_t valid_bytes);
  void read_filled_buffers();
  std::size_t drain_filled();
  void give_back(std::uint8_t* buffer);
  TimeNs ring_timeout() const;
  void announce_context();
  void declare();
  void give_up(const char* why) noexcept;

  // No exception of ours may reach CUPTI or end a thread. Not catch (...): the unwinding of a cancelled thread must
  // pass.
  template <class Work>
  void guard(Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  Result<> subscribe();
  Result<> set_up();
  void read_buffer(std::uint8_t* buffer, std::size_t valid_bytes);
  void report_dropped();
  void enable_sources(const Cupti& cupti);
  void report_if_failed(const Source& source, const Result<>& enabled);
  void switch_sources(const Cupti& cupti, bool on);
  void start_flusher();
  bool off() const { return off_.load(std::memory_order_relaxed); }

  // CUPTI passes no user pointer to its buffer callbacks. Of Stay::for_good; the other one is behind a gate.
  static Collector* instance_;
  static Gate<Collector> gate_;

  const CuptiApi& api_;
  EventSink& sink_;
  RingPages pages_;
  Environment environment_;
  const Stay stay_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Source*> called_;  // those that want callbacks
  std::array<Source*, CUPTI_ACTIVITY_KIND_COUNT> by_kind_{};
  CaptureSwitch capture_;
  BufferPool pool_;
  // CUPTI's own periodic flush delivers full buffers only; a live view, and a program that ends by _exit or a signal,
  // need partly filled buffers too.
  PeriodicThread flusher_;
  std::once_flag flusher_started_;

  // Filled buffers, not read yet. One is read at a time, in order of arrival.
  struct Filled {
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
  };
  std::mutex filled_mutex_;
  std::deque<Filled> filled_;
  std::mutex reader_mutex_;  // taken before filled_mutex_

  std::atomic<bool> has_context_{false};
  std::atomic<bool> context_announced_{false};
  std::atomic<bool> declared_{false};
  std::atomic<TimeNs> exit_by_{0};  // set by stop(): wait for space in the ring until this time
  std::atomic<bool> off_{false};
};

}  // namespace wicprof::collector
