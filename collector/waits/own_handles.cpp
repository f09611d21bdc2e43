#include "collector/waits/own_handles.h"

#include "collector/waits/driver_scopes.h"

namespace wicprof::collector {

OwnHandles::Event::~Event() {
  if (event_ == nullptr) return;
  const std::lock_guard lock(of_->mutex);
  if (!of_->ended) of_->free.push_back(event_);
}

std::shared_ptr<OwnHandles::OfContext> OwnHandles::of(CUcontext context) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<OfContext>& found = contexts_[context];
  if (found == nullptr) found = std::make_shared<OfContext>();
  return found;
}

CUevent OwnHandles::make_event(CUcontext context) {
  CUevent made = nullptr;
  const CurrentContext current(driver_, context);
  if (driver_.create_event == nullptr || current.get() == nullptr ||
      driver_.create_event(&made, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return nullptr;
  return made;
}

OwnHandles::Event OwnHandles::event(CUcontext context) {
  Event taken;
  taken.of_ = of(context);
  {
    const std::lock_guard lock(taken.of_->mutex);
    if (!taken.of_->free.empty()) {
      taken.event_ = taken.of_->free.back();
      taken.of_->free.pop_back();
      return taken;
    }
  }
  taken.event_ = make_event(context);
  return taken;
}

CUstream OwnHandles::idle_stream(CUcontext context) {
  const std::shared_ptr<OfContext> kept = of(context);
  {
    const std::lock_guard lock(kept->mutex);
    if (kept->idle != nullptr) return kept->idle;
  }
  CUstream made = nullptr;
  {
    const CurrentContext current(driver_, context);
    if (driver_.create_stream == nullptr || current.get() == nullptr ||
        driver_.create_stream(&made, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
      return nullptr;
  }
  const std::lock_guard lock(kept->mutex);
  if (kept->idle == nullptr) kept->idle = made;  // else two threads have made one: the second is never used
  return kept->idle;
}

CUevent OwnHandles::ready_event(CUcontext context) {
  const std::shared_ptr<OfContext> kept = of(context);
  {
    const std::lock_guard lock(kept->mutex);
    if (kept->ready != nullptr) return kept->ready;
  }
  const CUevent made = make_event(context);
  const std::lock_guard lock(kept->mutex);
  if (kept->ready == nullptr) kept->ready = made;
  return kept->ready;
}

void OwnHandles::context_ends(CUcontext context) {
  std::shared_ptr<OfContext> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return;
    ended = found->second;
    contexts_.erase(found);
  }
  const std::lock_guard lock(ended->mutex);
  ended->ended = true;
}

}  // namespace wicprof::collector
