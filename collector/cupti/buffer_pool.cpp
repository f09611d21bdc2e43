#include "collector/cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace wicprof::collector {

namespace {

/// In front of each buffer: the number of its size.
constexpr std::size_t kHead = 16;
static_assert(kHead >= sizeof(std::size_t) && kHead % BufferPool::kAlignment == 0);

std::size_t size_of(const std::uint8_t* buffer) {
  std::size_t size = 0;
  std::memcpy(&size, buffer - kHead, sizeof size);
  return size;
}

}  // namespace

std::uint8_t* BufferPool::make(std::size_t size) {
  auto* const memory = static_cast<std::uint8_t*>(std::aligned_alloc(kHead, kHead + bytes_of(size)));
  if (memory == nullptr) return nullptr;
  std::memcpy(memory, &size, sizeof size);
  std::memset(memory + kHead, 0, bytes_of(size));
  return memory + kHead;
}

void BufferPool::destroy(std::uint8_t* buffer) { std::free(buffer - kHead); }

BufferPool::~BufferPool() {
  for (const Shelf& shelf : shelves_) {
    for (std::uint8_t* buffer : shelf.free) destroy(buffer);
  }
}

BufferPool::Taken BufferPool::take() {
  std::size_t size = kSizes - 1;
  {
    const std::lock_guard lock(mutex_);
    if (out_ >= max_out_) return {};
    ++out_;
    if (prepared_) size = std::min(taken_++ / kOfEachSize, kSizes - 1);
    Shelf& shelf = shelves_[size];
    ++shelf.taken;
    if (!shelf.free.empty()) {
      const Taken taken{shelf.free.back(), bytes_of(size)};
      shelf.free.pop_back();
      free_bytes_ -= taken.bytes;
      return taken;
    }
  }
  if (std::uint8_t* const made = make(size); made != nullptr) return {made, bytes_of(size)};
  const std::lock_guard lock(mutex_);
  --out_;
  return {};
}

void BufferPool::give(std::uint8_t* buffer) {
  if (buffer == nullptr) return;
  const std::size_t size = size_of(buffer), bytes = bytes_of(size);
  std::memset(buffer, 0, bytes);
  {
    const std::lock_guard lock(mutex_);
    --out_;
    if (free_bytes_ + bytes <= kMaxFreeBytes) {
      shelves_[size].free.push_back(buffer);
      free_bytes_ += bytes;
      return;
    }
  }
  destroy(buffer);
}

void BufferPool::prepare() {
  std::array<std::size_t, kSizes> wanted{};
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t size = 0; size < kSizes; ++size) {
      Shelf& shelf = shelves_[size];
      const std::size_t goal =
          std::clamp(shelf.taken, size == 0 ? kOfEachSize : std::size_t{0}, kMaxFreeBytes / bytes_of(size));
      if (goal > shelf.free.size()) wanted[size] = goal - shelf.free.size();
      shelf.taken = 0;
    }
    taken_ = 0;
    prepared_ = true;
  }
  for (std::size_t size = 0; size < kSizes; ++size) {
    for (; wanted[size] > 0; --wanted[size]) {
      std::uint8_t* const buffer = make(size);
      if (buffer == nullptr) return;
      const std::lock_guard lock(mutex_);
      shelves_[size].free.push_back(buffer);
      free_bytes_ += bytes_of(size);
    }
  }
}

}  // namespace wicprof::collector
