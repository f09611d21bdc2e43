#include "gui/app/reclaimer.h"

#include <utility>

#include "protocol/thread.h"

namespace wicprof::gui {

Reclaimer::Reclaimer() : thread_(start_thread([this] { work(); })) {}

Reclaimer::~Reclaimer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Reclaimer::take(std::shared_ptr<const void> object) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(object));
  }
  wake_.notify_all();
}

void Reclaimer::work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    std::vector<std::shared_ptr<const void>> freed = std::exchange(waiting_, {});
    lock.unlock();
    freed.clear();
    lock.lock();
  }
}

}  // namespace wicprof::gui
