// The producing end of a ring for a process with many threads: one lock, and texts sent once.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "protocol/events/loss.h"
#include "protocol/ring.h"
#include "protocol/time.h"

namespace wicprof {

/// Any thread. Holds its lock for one record, or for a batch (protocol/event_batch.h) of a few thousand bytes. The ring
/// counts the records that it has no space for.
class EventSink {
 public:
  /// Beyond `max_texts` texts or `max_bytes` of their characters the sink forgets all texts and continues with new
  /// numbers, so that a program that names every iteration does not fill its own memory. wic-prof forgets numbers after
  /// twice as many texts or bytes (store/sqlite/text_table.h).
  static constexpr std::size_t kMaxTexts = 65'536;
  static constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
  explicit EventSink(RingHeader* ring, std::size_t max_texts = kMaxTexts, std::size_t max_bytes = kMaxTextBytes)
      : writer_(ring), max_texts_(max_texts), max_bytes_(max_bytes) {}
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  /// The sink while its lock is held, for a caller whose own data has to keep the records' order: one lock for both.
  class Locked {
   public:
    explicit Locked(EventSink& sink) : sink_(sink), lock_(sink.mutex_) {}

    /// The text's number; the text is sent ahead of the first event that can refer to it. 0 for an empty text, and
    /// while the ring has no space for a new text; the next call tries again. `count_drop` false: does not count the
    /// failed attempt as a drop.
    TextId text(std::string_view text, bool count_drop = true) {
      if (text.empty()) return 0;
      auto found = sink_.texts_.find(text);
      if (found == sink_.texts_.end()) {
        if (sink_.texts_.size() >= sink_.max_texts_ || sink_.text_bytes_ + text.size() > sink_.max_bytes_)
          sink_.forget_texts();
        found = sink_.texts_.emplace(std::string(text), Entry{++sink_.last_id_, false}).first;
        sink_.text_bytes_ += text.size();
      }
      Entry& entry = found->second;
      if (!entry.sent) entry.sent = sink_.writer_.write_text(entry.id, text, count_drop);
      return entry.sent ? entry.id : 0;
    }

    template <class Event>
    bool write(const Event& event) {
      return sink_.writer_.write(event);
    }

    /// Reports to the trace that `count` events are missing from it, and why.
    void loss(LossSource source, std::uint64_t count, std::string_view reason, DeviceId device = kHostDevice) {
      auto event = make_event<LossEvent>();
      event.source = source;
      event.count = count;
      event.at_ns = now_ns();
      event.device = device;
      event.reason = text(reason);
      write(event);
    }

   private:
    EventSink& sink_;
    const std::lock_guard<std::mutex> lock_;
  };

  // The same, each under the lock alone.
  TextId text(std::string_view text, bool count_drop = true) {
    return text.empty() ? 0 : Locked(*this).text(text, count_drop);
  }
  template <class Event>
  bool write(const Event& event) {
    return Locked(*this).write(event);
  }
  void loss(LossSource source, std::uint64_t count, std::string_view reason, DeviceId device = kHostDevice) {
    Locked(*this).loss(source, count, reason, device);
  }

  /// RingHeader::unwritten: buffers whose records are yet to be written.
  void add_unwritten(std::int32_t buffers) { writer_.add_unwritten(buffers); }
  void all_written() { writer_.all_written(); }

  /// How often the sink has forgotten its texts. Whoever keeps a text's number asks for it again once this has changed.
  std::uint32_t text_generation() const { return text_generation_.load(std::memory_order_relaxed); }

  /// For a thread that must not wait and has few events: keeps an event that does not fit the ring, up to kMaxHeld
  /// bytes, and sends it with the next write_all() or send_held(). False: dropped and counted.
  template <class Event>
  bool write_or_hold(const Event& event) {
    static_assert(sizeof(Event) % 8 == 0);
    return write_or_hold_all(std::as_bytes(std::span(&event, 1)));
  }

  /// The same for contiguous records. False: some are dropped.
  bool write_or_hold_all(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    write_held();
    if (held_.empty()) bytes = bytes.subspan(writer_.write_records(bytes.data(), bytes.size()));
    if (bytes.empty()) return true;
    if (held_.size() + bytes.size() > kMaxHeld) {
      writer_.count_dropped(count(bytes));
      return false;
    }
    held_.insert(held_.end(), bytes.begin(), bytes.end());
    return true;
  }

  /// Sends the held events; waits for space as write_all() does, and drops the rest.
  void send_held(TimeNs timeout) {
    std::vector<std::byte> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    write_all(held, timeout);
  }

  /// Writes contiguous records. While the ring is full, waits without the lock for at most `timeout`, then drops the
  /// rest. Returns the rest of the timeout.
  TimeNs write_all(std::span<const std::byte> records, TimeNs timeout) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        write_held();
        records = records.subspan(writer_.write_records(records.data(), records.size()));
        if (!records.empty() && timeout <= 0) writer_.count_dropped(count(records));
        if (records.empty() || timeout <= 0) return timeout;
      }
      timeout = wait_for_consumer(timeout);
    }
  }

  /// Waits until the ring's consumer is beyond where it was when a record last did not fit, which it may be already.
  /// Returns the rest of the timeout, or 0 without progress: the consumer then counts as gone, and later calls return
  /// at once until it makes progress.
  TimeNs wait_for_consumer(TimeNs timeout) {
    const std::uint64_t checked = last_check();
    if (gone_at_.load(std::memory_order_relaxed) == checked && writer_.consumed() == checked) return 0;
    const TimeNs began = now_ns();
    for (TimeNs waited = 0; waited < timeout; waited = now_ns() - began) {
      if (writer_.consumed() != checked) return timeout - waited;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    gone_at_.store(checked, std::memory_order_relaxed);
    return 0;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Entry {
    TextId id = 0;
    bool sent = false;
  };

  static constexpr std::size_t kMaxHeld = 64 << 10;

  std::uint64_t last_check() {
    const std::lock_guard lock(mutex_);
    return writer_.checked();
  }

  void forget_texts() {
    texts_.clear();
    text_bytes_ = 0;
    text_generation_.fetch_add(1, std::memory_order_relaxed);
  }

  void write_held() {
    if (held_.empty()) return;
    const std::size_t written = writer_.write_records(held_.data(), held_.size());
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(written));
  }

  static std::uint64_t count(std::span<const std::byte> records) {
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < records.size(); ++count) {
      EventHeader header;
      std::memcpy(&header, records.data() + at, sizeof header);
      at += header.size;
    }
    return count;
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> gone_at_{UINT64_MAX};  // the consumer's position when it was last considered gone
  RingWriter writer_;
  std::vector<std::byte> held_;
  std::size_t max_texts_, max_bytes_;
  std::size_t text_bytes_ = 0;
  std::atomic<std::uint32_t> text_generation_{0};
  TextId last_id_ = 0;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> texts_;
};

}  // namespace wicprof
