#include "collector/buffer_pool.h"

#include <cstdlib>

namespace wicprof::collector {

BufferPool::~BufferPool() {
  for (std::uint8_t* buffer : free_) std::free(buffer);
}

std::uint8_t* BufferPool::take() {
  const std::lock_guard lock(mutex_);
  if (out_ >= max_out_) return nullptr;
  std::uint8_t* buffer = nullptr;
  if (free_.empty()) {
    buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  } else {
    buffer = free_.back();
    free_.pop_back();
  }
  if (buffer != nullptr) ++out_;
  return buffer;
}

void BufferPool::give(std::uint8_t* buffer) {
  if (buffer == nullptr) return;
  const std::lock_guard lock(mutex_);
  --out_;
  if (free_.size() < kKept) {
    free_.push_back(buffer);
  } else {
    std::free(buffer);
  }
}

}  // namespace wicprof::collector
