// Streams and events of wic-prof's own in the program's contexts, by which it waits in the place of the
// program's calls. Made when the first wait needs them, and kept for the next ones.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/waits/driver_api.h"

namespace wicprof::collector {

/// Any thread. Where the driver refuses one, there is none (nullptr). No lock is held during a call of the driver.
class OwnHandles {
  struct OfContext;

 public:
  explicit OwnHandles(const DriverApi& driver) : driver_(driver) {}
  OwnHandles(const OwnHandles&) = delete;
  OwnHandles& operator=(const OwnHandles&) = delete;

  /// An event for one wait.
  class Event {
   public:
    Event() = default;
    Event(Event&& other) noexcept : of_(std::move(other.of_)), event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(event_, other.event_);
      return *this;
    }
    ~Event();
    CUevent get() const { return event_; }

   private:
    friend class OwnHandles;
    std::shared_ptr<OfContext> of_;
    CUevent event_ = nullptr;
  };
  /// `context`: alive.
  Event event(CUcontext context);

  /// A stream in which there is never any work.
  CUstream idle_stream(CUcontext context);
  /// An event that is never recorded.
  CUevent ready_event(CUcontext context);

  /// The context is about to be destroyed, and its handles with it.
  void context_ends(CUcontext context);

 private:
  struct OfContext {
    std::mutex mutex;
    bool ended = false;
    std::vector<CUevent> free;
    CUstream idle = nullptr;
    CUevent ready = nullptr;
  };
  std::shared_ptr<OfContext> of(CUcontext context);
  CUevent make_event(CUcontext context);

  const DriverApi& driver_;
  std::mutex mutex_;  // of the table
  std::unordered_map<CUcontext, std::shared_ptr<OfContext>> contexts_;
};

}  // namespace wicprof::collector
