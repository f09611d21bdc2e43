#include "collector/waits/own_handles.h"

#include "collector/waits/driver_scopes.h"

namespace wicprof::collector {

namespace {

/// A program that releases its primary context again and again gets no further green contexts. Not calibrated.
constexpr int kMostGreens = 3;
/// Multiprocessors of the idle context: the fewest that the driver gives out on any GPU since Hopper.
constexpr unsigned kMultiprocessors = 8;

}  // namespace

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

CUcontext OwnHandles::idle_context(CUcontext context, bool make) {
  const std::shared_ptr<OfContext> kept = of(context);
  {
    const std::lock_guard lock(kept->mutex);
    if (kept->idle_context != nullptr || kept->tried_green || !make) return kept->idle_context;
    kept->tried_green = true;  // by this thread
  }
  {
    const std::lock_guard lock(mutex_);
    if (greens_destroyed_ >= kMostGreens) return nullptr;
  }
  CUgreenCtx green = nullptr;
  CUcontext made = nullptr;
  if (!make_green(context, green, made)) return nullptr;
  const std::lock_guard lock(kept->mutex);
  kept->green = green;
  return kept->idle_context = made;
}

bool OwnHandles::make_green(CUcontext context, CUgreenCtx& green, CUcontext& as_context) {
  const DriverApi& d = driver_;
  if (d.context_device == nullptr || d.primary_state == nullptr || d.retain_primary == nullptr ||
      d.release_primary == nullptr || d.device_resource == nullptr || d.split_multiprocessors == nullptr ||
      d.describe_resources == nullptr || d.create_green == nullptr || d.green_as_context == nullptr ||
      d.destroy_green == nullptr)
    return false;
  const CurrentContext current(d, context);
  CUdevice device = 0;
  if (current.get() == nullptr || d.context_device(&device) != CUDA_SUCCESS) return false;
  unsigned flags = 0;
  int active = 0;
  if (d.primary_state(device, &flags, &active) != CUDA_SUCCESS || active == 0) return false;  // retaining makes one
  CUcontext primary = nullptr;
  if (d.retain_primary(&primary, device) != CUDA_SUCCESS) return false;
  d.release_primary(device);
  if (primary != context) return false;
  CUdevResource all{}, part{}, rest{};
  CUdevResourceDesc description = nullptr;
  unsigned parts = 1;
  if (d.device_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
      d.split_multiprocessors(&part, &parts, &all, &rest, 0, kMultiprocessors) != CUDA_SUCCESS || parts == 0 ||
      d.describe_resources(&description, &part, 1) != CUDA_SUCCESS ||
      d.create_green(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
    return false;
  if (d.green_as_context(&as_context, green) == CUDA_SUCCESS) return true;
  d.destroy_green(green);
  return false;
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

void OwnHandles::primary_context_may_end() {
  std::vector<CUgreenCtx> greens;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [context, kept] : contexts_) {
      const std::lock_guard of_one(kept->mutex);
      if (kept->green == nullptr) continue;
      greens.push_back(kept->green);
      kept->green = nullptr;
      kept->idle_context = nullptr;
      kept->tried_green = false;
      ++greens_destroyed_;
    }
  }
  for (const CUgreenCtx green : greens) driver_.destroy_green(green);
}

}  // namespace wicprof::collector
