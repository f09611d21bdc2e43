// Memory for CUPTI's activity buffers, used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace wicprof::collector {

/// Any thread. Buffers come zeroed, which CUPTI would otherwise see to on the thread that launches a kernel.
class BufferPool {
 public:
  /// CUPTI holds a buffer back until all in it is complete, so that a kernel that runs for long keeps what shares its
  /// buffer from the trace: at this size some 400 launches. Smaller ones save little there, and each costs two
  /// callbacks and a lock.
  static constexpr std::size_t kBufferBytes = std::size_t{128} << 10;
  static constexpr std::size_t kAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT

  /// At most `max_out` buffers are out at a time: beyond that CUPTI is told no, drops records and counts them, and the
  /// program keeps its memory.
  explicit BufferPool(std::size_t max_out = (std::size_t{256} << 20) / kBufferBytes) : max_out_(max_out) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  std::uint8_t* take();  ///< nullptr when there is none to be had
  void give(std::uint8_t* buffer);

  /// Puts by as many buffers as are likely to be asked for until the next call, so that take() on a thread of the
  /// program finds memory that has been touched. The next call comes from the flusher, after its period.
  void prepare();

 private:
  static constexpr std::size_t kKept = (std::size_t{32} << 20) / kBufferBytes;
  static constexpr std::size_t kReady = 8;  // at least

  std::uint8_t* make() const;

  std::mutex mutex_;
  std::size_t max_out_;
  std::size_t out_ = 0;
  std::size_t taken_ = 0;  // since the last prepare()
  std::vector<std::uint8_t*> free_;
};

}  // namespace wicprof::collector
