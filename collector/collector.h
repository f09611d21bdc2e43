// The collector: subscribes to CUPTI, gives it buffers, and turns what comes back into events on one ring.
//
// A guest in the program: it never waits for the GPU, and a thread of the program never waits for more than one record.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/capture_switch.h"
#include "collector/cupti/buffer_pool.h"
#include "collector/cupti/cupti_api.h"
#include "collector/flusher.h"
#include "collector/program/environment.h"
#include "collector/sources/source.h"
#include "protocol/event_sink.h"

namespace wicprof::collector {

/// One a process, and never destroyed: CUPTI and the program's threads may call into it until the very end.
class Collector {
 public:
  /// `control`: the session's, which says when to record; nullptr: always.
  Collector(const CuptiApi& api, EventSink& sink, const Environment& environment,
            const ControlBlock* control = nullptr);

  /// Within cuInit(). On an error nothing is recorded. A source that cannot be enabled is said to be missing in the
  /// trace, and the others go on.
  Result<> start();

  /// At exit: hands over what CUPTI still holds, closes what is open, and is deaf from then on.
  void stop();

  /// Deaf from now on, without a lock or a system call: for the child of a fork, whose ring is its parent's.
  void switch_off() { off_.store(true, std::memory_order_relaxed); }

 private:
  void on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  void on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  void on_buffer_completed(std::uint8_t* buffer, std::size_t valid_bytes);
  void read_what_is_left();
  std::size_t read_left();
  TimeNs patience() const;
  void tell_context_created();
  void declare();
  void give_up(const char* why) noexcept;

  // Nothing of ours is thrown into CUPTI or ends a thread. Not catch (...): a thread that is cancelled unwinds through
  // here.
  template <class Work>
  void guard(Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  void read_buffer(std::uint8_t* buffer, std::size_t valid_bytes);
  void report_dropped();
  void enable_sources(const Cupti& cupti);
  void say_if_missing(const Source& source, const Result<>& enabled);
  void switch_sources(const Cupti& cupti, bool on);
  void start_flusher();
  bool off() const { return off_.load(std::memory_order_relaxed); }

  // CUPTI passes no pointer of ours to its buffer callbacks.
  static Collector* instance_;

  const CuptiApi& api_;
  EventSink& sink_;
  Environment environment_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<std::unique_ptr<Source>> sources_;
  std::array<Source*, CUPTI_ACTIVITY_KIND_COUNT> by_kind_{};
  CaptureSwitch capture_;
  BufferPool pool_;
  Flusher flusher_;
  std::once_flag flusher_started_;

  // Filled buffers that nobody has read yet. One is read at a time, in the order in which they came.
  struct Filled {
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
  };
  std::mutex left_mutex_;
  std::deque<Filled> left_;
  std::mutex read_mutex_;  // taken before left_mutex_

  std::atomic<bool> has_context_{false};
  std::atomic<bool> context_told_{false};
  std::atomic<bool> declared_{false};
  std::atomic<TimeNs> exit_by_{0};  // stop() has begun, and waits until then for room in the ring
  std::atomic<bool> off_{false};
};

}  // namespace wicprof::collector
