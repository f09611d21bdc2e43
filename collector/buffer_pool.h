// Memory for CUPTI's activity buffers, used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace wicprof::collector {

/// Any thread.
class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  static constexpr std::size_t kAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT

  /// At most `max_out` buffers are out at a time: beyond that CUPTI is told no, drops records and counts them, and the
  /// program keeps its memory.
  explicit BufferPool(std::size_t max_out = 256) : max_out_(max_out) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  std::uint8_t* take();  ///< nullptr when there is none to be had
  void give(std::uint8_t* buffer);

 private:
  static constexpr std::size_t kKept = 16;

  std::mutex mutex_;
  std::size_t max_out_;
  std::size_t out_ = 0;
  std::vector<std::uint8_t*> free_;
};

}  // namespace wicprof::collector
