#include "collector/cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace wicprof::collector {

BufferPool::~BufferPool() {
  for (std::uint8_t* buffer : free_) std::free(buffer);
}

std::uint8_t* BufferPool::make(std::size_t zeroed_bytes) const {
  auto* buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  if (buffer != nullptr) std::memset(buffer, 0, zeroed_bytes);
  return buffer;
}

BufferPool::Taken BufferPool::take() {
  Taken buffer;
  {
    const std::lock_guard lock(mutex_);
    if (out_ >= max_out_) return {};
    ++out_;
    const std::size_t doublings = std::min(taken_++ / kOfEachSize, kDoublings);
    buffer.bytes = prepared_ ? kLeastBytes << doublings : kBufferBytes;
    if (!free_.empty()) {
      buffer.data = free_.back();
      free_.pop_back();
      return buffer;
    }
  }
  buffer.data = make(buffer.bytes);
  if (buffer.data != nullptr) return buffer;
  const std::lock_guard lock(mutex_);
  --out_;
  return {};
}

void BufferPool::give(std::uint8_t* buffer) {
  if (buffer == nullptr) return;
  std::memset(buffer, 0, kBufferBytes);
  {
    const std::lock_guard lock(mutex_);
    --out_;
    if (free_.size() < kMaxFree) {
      free_.push_back(buffer);
      return;
    }
  }
  std::free(buffer);
}

void BufferPool::prepare() {
  std::size_t wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t goal = std::clamp(taken_, kMinReady, kMaxFree);
    taken_ = 0;
    prepared_ = true;
    wanted = free_.size() < goal ? goal - free_.size() : 0;
  }
  for (; wanted > 0; --wanted) {
    std::uint8_t* buffer = make(kBufferBytes);
    if (buffer == nullptr) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(buffer);
  }
}

}  // namespace wicprof::collector
