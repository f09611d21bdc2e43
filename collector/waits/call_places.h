// Where a thread waits and in which call: from the callbacks of the driver alone, as far as they know.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>

#include "collector/program/caller.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "collector/waits/waiting_thread.h"
#include "protocol/event_sink.h"

namespace wicprof::collector {

/// Calls are given by their numbers in kWaitingCalls. Any thread, unless a function says otherwise.
class CallPlaces {
 public:
  explicit CallPlaces(WaitSites& sites) : sites_(sites) {}
  CallPlaces(const CallPlaces&) = delete;
  CallPlaces& operator=(const CallPlaces&) = delete;

  /// Before the first callback. `cupti`: an address in CUPTI.
  void set_cupti(const void* cupti) { cupti_ = cupti; }
  void set_name(std::uint8_t number, std::string name) { names_[number] = std::move(name); }
  const std::string& name(std::uint8_t number) const { return names_[number]; }

  /// Whether callbacks of a call of the runtime come, or have just been found not to be needed.
  bool asked(std::uint8_t number) const { return watch_[number].load(std::memory_order_relaxed) == Watch::asked; }
  bool not_needed(std::uint8_t number) const {
    return watch_[number].load(std::memory_order_relaxed) == Watch::not_needed;
  }
  /// Whether a call of the runtime and the driver's call in it have one correlation id.
  bool ids_nest() const { return ids_nest_.load(std::memory_order_relaxed); }

  /// At the begin of a wait, in the callback of call `number`. `frame`: of the callback, one and the same function at
  /// every call. Also says by which call the thread waits (`thread.wait.number`): the driver's callback is the only one
  /// where those of the runtime are not needed.
  PlaceOfWait place(WaitingThread& thread, std::uint8_t number, const void* frame, EventSink& sink);

  /// Within a call of the runtime, in that of the driver: whether the latter's callback alone knows which call of the
  /// runtime it is in.
  void prove(WaitingThread& thread, std::uint8_t number, const void* frame, std::uint32_t correlation);

  /// Disables callbacks of the runtime that are not needed, two ticks after that has been found, so that no call is in
  /// progress then; enables them again where they are needed after all. `change(number, on)`. One thread.
  template <class Change>
  void tick(Change&& change) {
    for (std::uint8_t i = 0; i < std::size(kWaitingCalls); ++i) {
      const Watch watch = watch_[i];
      if (runtime_needed_ && watch != Watch::asked) {
        if (watch == Watch::not_needed) change(i, true);
        watch_[i] = Watch::asked;
      } else if (watch == Watch::proven) {
        watch_[i] = Watch::settling;
      } else if (watch == Watch::settling) {
        watch_[i] = Watch::not_needed;
        change(i, false);
      }
    }
  }

 private:
  /// Whether callbacks of a call of the runtime are needed beside those of the driver.
  enum class Watch : std::uint8_t { asked, proven, settling, not_needed };

  /// Where the runtime's call, which is linked into the program, has its function. False: not known.
  bool learn_inside(const WaitingThread& thread);
  CudaCall cuda_call(std::uint8_t number) const;
  bool some_not_needed() const;
  /// `otherwise`: where the name is none of the runtime's waiting calls.
  std::uint8_t number_of_runtime(const std::string& name, std::uint8_t otherwise) const;

  WaitSites& sites_;
  const void* cupti_ = nullptr;
  std::string names_[std::size(kWaitingCalls)];
  std::atomic<const void*> inside_[std::size(kWaitingCalls)] = {};  // CudaCall::inside
  std::atomic<Watch> watch_[std::size(kWaitingCalls)] = {};
  std::atomic<bool> runtime_needed_{false};  // the runtime's callbacks, for good
  std::atomic<bool> ids_nest_{false};
};

}  // namespace wicprof::collector
