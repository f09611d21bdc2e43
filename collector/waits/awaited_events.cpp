#include "collector/waits/awaited_events.h"

#include "collector/waits/driver_scopes.h"

namespace wicprof::collector {

AwaitedEvents::Wait::Wait(AwaitedEvents& events, CUevent event, CUcontext context)
    : events_(events), awaited_(std::make_shared<Entry>()) {
  awaited_->event = event;
  awaited_->context = context;
  {
    const std::lock_guard lock(events_.mutex_);
    events_.awaited_.push_back(awaited_);
  }
  events_.count_.fetch_add(1);
  events_.used_ = true;
  if (!events_.watching_) events_.start_watching();
}

AwaitedEvents::Wait::~Wait() {
  events_.count_.fetch_sub(1);
  {
    const std::lock_guard lock(events_.mutex_);
    std::erase(events_.awaited_, awaited_);
  }
  const std::lock_guard lock(awaited_->mutex);
  awaited_->event = nullptr;  // whoever has found the wait before comes too late
  if (awaited_->stream != nullptr) events_.driver_.destroy_stream(awaited_->stream);
}

void AwaitedEvents::start_watching() {
  const std::lock_guard lock(watch_mutex_);
  if (!watching_.exchange(true) && watch_) watch_(true);
}

void AwaitedEvents::stop_watching() {
  const std::lock_guard lock(watch_mutex_);
  // Before the question: a wait that begins behind it finds that nothing is watched.
  if (!watching_.exchange(false)) return;
  if (used_ || count_.load() != 0) {
    watching_ = true;
  } else if (watch_) {
    watch_(false);
  }
}

CUresult AwaitedEvents::Wait::query() {
  const std::lock_guard lock(awaited_->mutex);
  const CUevent instead = awaited_->instead.get();
  return events_.driver_.event_query(instead != nullptr ? instead : awaited_->event);
}

CUevent AwaitedEvents::Wait::instead() {
  const std::lock_guard lock(awaited_->mutex);
  return awaited_->instead.get();
}

void AwaitedEvents::changes(CUevent event) {
  if (count_.load() == 0) return;
  std::vector<std::shared_ptr<Entry>> of_event;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Entry>& one : awaited_) {
      if (one->event == event) of_event.push_back(one);
    }
  }
  for (const std::shared_ptr<Entry>& one : of_event) {
    const std::lock_guard lock(one->mutex);
    if (one->event == event && one->instead.get() == nullptr) stand_in_for(*one);
  }
}

// In a stream of its own: other work of ours must not come in front of it. Where the driver refuses, the wait goes on
// for the event as it will be.
void AwaitedEvents::stand_in_for(Entry& awaited) {
  const RelaxedCapture relaxed(driver_);
  const CurrentContext current(driver_, awaited.context);
  if (!relaxed || current.get() == nullptr) return;
  OwnHandles::Event instead = handles_.event(current.get());
  CUstream stream = nullptr;
  if (instead.get() == nullptr || driver_.create_stream(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
  if (driver_.stream_wait_event(stream, awaited.event, 0) != CUDA_SUCCESS ||
      driver_.event_record(instead.get(), stream) != CUDA_SUCCESS) {
    driver_.destroy_stream(stream);
    return;
  }
  awaited.instead = std::move(instead);
  awaited.stream = stream;
}

}  // namespace wicprof::collector
