#include "collector/waits/snapshot.h"

#include <utility>

#include "collector/waits/driver_scopes.h"

namespace wicprof::collector {

namespace {

Answer answer_of(CUresult result) {
  return result == CUDA_SUCCESS ? Answer::done : result == CUDA_ERROR_NOT_READY ? Answer::pending : Answer::unknown;
}

}  // namespace

Snapshot::Snapshot(ParkTools& tools, const Awaitable& what) : tools_(tools), what_(what) {
  const OpenCaptures::Pause pause(tools_.captures);
  if (pause) take();
}

void Snapshot::take() {
  const DriverApi& driver = tools_.driver;
  if (driver.event_query == nullptr || driver.event_record == nullptr || driver.current_context == nullptr) return;
  context_ = what_.context;
  const bool of_stream = what_.kind == Awaited::stream || what_.kind == Awaited::copy;
  if (of_stream && (driver.stream_context == nullptr || driver.stream_context(what_.stream, &context_) != CUDA_SUCCESS))
    return;
  if (context_ == nullptr && driver.current_context(&context_) != CUDA_SUCCESS) return;
  if (context_ == nullptr) return;
  if (what_.kind == Awaited::event) {
    // The event may be one of a capture that has ended, for which the call reports an error.
    if (driver.event_query(what_.event) == CUDA_ERROR_NOT_READY) wait_.emplace(tools_.events, what_.event, context_);
    return;
  }
  if (legacy()) {
    asks_ = driver.stream_query != nullptr && ask_default_stream() == Answer::pending;
    return;
  }
  // An event recorded in an idle stream takes the GPU some 10 us.
  if (driver.stream_query != nullptr && driver.stream_query(what_.stream) == CUDA_SUCCESS) return;
  OwnHandles::Event event = tools_.handles.event(context_);
  if (event.get() == nullptr) return;
  if (driver.event_record(event.get(), what_.stream) == CUDA_SUCCESS) event_ = std::move(event);
}

Answer Snapshot::ask() {
  if (wait_) return answer_of(wait_->query());
  if (!asks_) return answer_of(tools_.driver.event_query(event_.get()));
  const OpenCaptures::Pause pause(tools_.captures);
  return pause ? ask_default_stream() : Answer::pending;
}

Answer Snapshot::ask_default_stream() {
  const CurrentContext current(tools_.driver, context_);
  return current.get() == nullptr ? Answer::unknown : answer_of(tools_.driver.stream_query(CU_STREAM_LEGACY));
}

Answer Snapshot::wait() {
  // The others go on in the driver themselves: while a thread slept here, nothing of others could wait for their calls.
  const CUevent event = wait_ ? wait_->instead() : what_.kind == Awaited::stream ? event_.get() : nullptr;
  if (event == nullptr || tools_.driver.event_synchronize == nullptr) return Answer::pending;
  return answer_of(tools_.driver.event_synchronize(event));
}

}  // namespace wicprof::collector
