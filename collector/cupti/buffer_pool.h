// A pool of reusable memory for CUPTI's activity buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace wicprof::collector {

/// Any thread. Hands out zeroed buffers; otherwise CUPTI would zero them on the thread that launches a kernel.
class BufferPool {
 public:
  /// Some 400 launches. Each buffer costs two callbacks and a lock.
  static constexpr std::size_t kBufferBytes = std::size_t{128} << 10;
  static constexpr std::size_t kAlignment = 8;  // bytes; CUPTI's ACTIVITY_RECORD_ALIGNMENT

  /// At most `max_out` buffers are in use at a time. Beyond that take() fails, and CUPTI drops records and counts them;
  /// this bounds the memory taken from the program.
  explicit BufferPool(std::size_t max_out = (std::size_t{256} << 20) / kBufferBytes) : max_out_(max_out) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  struct Taken {
    std::uint8_t* data = nullptr;  ///< nullptr: limit reached or out of memory
    std::size_t bytes = 0;
  };
  /// CUPTI delivers a buffer only when every record in it is complete, so each kernel that runs keeps back what shares
  /// its buffer; a program that always has one running, and then ends without its exit, loses that. So the first
  /// buffers after each prepare() are small, and every eighth is twice as large as the one before. Without prepare(),
  /// all are large.
  Taken take();
  void give(std::uint8_t* buffer);

  /// Prepares as many buffers as the program is likely to take before the next call, so that take() on a thread of the
  /// program finds touched memory. The flusher calls this once per period.
  void prepare();

 private:
  static constexpr std::size_t kMaxFreeBytes = std::size_t{32} << 20;
  static constexpr std::size_t kSizes = 5, kLeastBytes = kBufferBytes >> (kSizes - 1);
  static constexpr std::size_t kOfEachSize = 8;  // taken per period before the next size, and ready of the smallest

  /// Of one size.
  struct Shelf {
    std::size_t taken = 0;  ///< since the last prepare()
    std::vector<std::uint8_t*> free;
  };

  static constexpr std::size_t bytes_of(std::size_t size) { return kLeastBytes << size; }
  static std::uint8_t* make(std::size_t size);
  static void destroy(std::uint8_t* buffer);

  std::mutex mutex_;
  std::size_t max_out_;
  std::size_t out_ = 0;
  std::size_t taken_ = 0;  // since the last prepare()
  std::size_t free_bytes_ = 0;
  bool prepared_ = false;
  std::array<Shelf, kSizes> shelves_;
};

}  // namespace wicprof::collector
