// Records gathered by one thread and passed to the sink together: one lock for many records, with an optional wait for
// a full ring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "protocol/event_sink.h"

namespace wicprof {

/// One thread at a time. The destructor passes the remaining records to the sink.
class EventBatch {
 public:
  /// `timeout`: how long the whole batch may wait for space in a full ring; 0 on threads of the program.
  explicit EventBatch(EventSink& sink, TimeNs timeout = 0) : sink_(sink), time_left_(timeout) {}
  EventBatch(const EventBatch&) = delete;
  EventBatch& operator=(const EventBatch&) = delete;
  ~EventBatch() { flush(); }

  /// As EventSink::text: the text is in the ring before any event of this batch that refers to it.
  TextId text(std::string_view text) {
    TextId id = sink_.text(text, time_left_ <= 0);
    while (id == 0 && !text.empty() && time_left_ > 0) {
      time_left_ = sink_.wait_for_consumer(time_left_);
      id = sink_.text(text, time_left_ <= 0);
    }
    return id;
  }

  /// As EventSink::text_generation.
  std::uint32_t text_generation() const { return sink_.text_generation(); }

  template <class Event>
  void write(const Event& event) {
    static_assert(sizeof(Event) % 8 == 0 && sizeof(Event) <= kBytes);
    if (used_ + sizeof(Event) > kBytes) flush();
    std::memcpy(bytes_.data() + used_, &event, sizeof event);
    used_ += sizeof event;
  }

  void loss(LossSource source, std::uint64_t count, std::string_view reason, DeviceId device = kHostDevice) {
    flush();
    sink_.loss(source, count, reason, device);
  }

  void flush() {
    if (used_ == 0) return;
    time_left_ = sink_.write_all(std::span<const std::byte>(bytes_).first(std::exchange(used_, 0)), time_left_);
  }

 private:
  // About forty records: copied under the lock in about a microsecond.
  static constexpr std::size_t kBytes = 4096;

  EventSink& sink_;
  TimeNs time_left_;
  std::size_t used_ = 0;
  alignas(8) std::array<std::byte, kBytes> bytes_;
};

}  // namespace wicprof
