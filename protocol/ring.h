// The ring that carries events from one producer to one consumer, which may be in different processes.
//
//   shared memory, from a 64-byte boundary:
//
//   +0      magic, capacity          written once, before anyone attaches
//   +64     owner                    process whose producer claimed the ring (protocol/owner.h)
//   +128    head, dropped            written by the producer only
//   +192    tail                     written by the consumer only
//   +256    data[capacity]           capacity is a power of two
//
//   data:   | header payload | header payload | ...free... | padding |
//             ^tail                             ^head
//
// head and tail count bytes without wrapping; the position in data is their value modulo capacity. A record is
// contiguous: a padding record fills the end of data when the next record does not fit there. The producer never waits:
// it drops and counts a record that does not fit the free space. The consumer skips records of unknown kinds by their
// length; a record with an impossible length empties the ring and counts as corrupt.
//
// A ring passes from one producer to the next in these steps:
//
//   1. claim      a producer swaps its pid into the free owner, and continues from `head`
//   2. gone       the consumer finds that the owner can no longer write (gone_owner)
//   3. last read  the consumer empties the ring; because it checked the owner first, it sees everything written
//   4. reset_ring the consumer sets head, tail and dropped to 0; nobody else accesses them at this point
//   5. take back  the owner becomes free (release); a producer that claims it now (acquire) sees an empty ring
//
// Between 1 and 5 nobody else can claim, so two producers never write to one ring at a time, and the consumer never
// attributes a record to the wrong producer.
//
// The producer's process may overwrite any of this memory by mistake, at any time. So each end keeps the capacity for
// itself, and the consumer copies a record before anybody looks into it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "protocol/events/header.h"
#include "protocol/events/text.h"
#include "protocol/owner.h"

namespace wicprof {

struct RingHeader {
  static constexpr std::uint64_t kMagic = 0x31474e4952434957;  // "WICRING1"

  std::uint64_t magic;
  std::uint64_t capacity;
  alignas(64) Owner owner;
  alignas(64) std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> dropped;
  /// Above 0: the producer's process has records that it has yet to write, such as those in buffers of CUPTI.
  std::atomic<std::int32_t> unwritten;
  alignas(64) std::atomic<std::uint64_t> tail;
  alignas(64) std::byte data[1];
};
inline constexpr std::size_t kRingDataOffset = 256;
static_assert(offsetof(RingHeader, data) == kRingDataOffset);

constexpr std::size_t ring_bytes(std::size_t capacity) { return kRingDataOffset + capacity; }

/// Empties a ring and clears its counters. For the consumer, while nobody can write.
inline void reset_ring(RingHeader& ring) {
  ring.head.store(0, std::memory_order_relaxed);
  ring.dropped.store(0, std::memory_order_relaxed);
  ring.unwritten.store(0, std::memory_order_relaxed);
  ring.tail.store(0, std::memory_order_relaxed);
}

/// Initializes an empty ring in `memory` (64-byte aligned, ring_bytes(capacity) long). `capacity`: a power of two, at
/// least 2 * kMaxEventSize.
inline RingHeader* make_ring(void* memory, std::size_t capacity) {
  auto* ring = static_cast<RingHeader*>(memory);
  ring->capacity = capacity;
  ring->owner.give_back();
  reset_ring(*ring);
  ring->magic = RingHeader::kMagic;
  return ring;
}

/// The producing end. One thread at a time.
class RingWriter {
 public:
  RingWriter() = default;
  /// `ring`: from make_ring() or SessionMap::claim_ring().
  explicit RingWriter(RingHeader* ring)
      : ring_(ring), capacity_(ring->capacity), head_(ring->head.load(std::memory_order_relaxed) & ~std::uint64_t{7}) {}

  explicit operator bool() const { return ring_ != nullptr; }

  /// False if the ring is full; the event then counts as dropped.
  template <class Event>
  bool write(const Event& event) {
    static_assert(sizeof(Event) % 8 == 0);
    std::byte* to = reserve(event.header.size);
    if (to == nullptr) return false;
    std::memcpy(to, &event, sizeof(Event));
    commit(event.header.size);
    return true;
  }

  /// `count_drop` false: does not count a text that does not fit, for a caller that tries again.
  bool write_text(TextId id, std::string_view text, bool count_drop = true) {
    text = text.substr(0, kMaxTextLength);
    TextEvent event = make_event<TextEvent>();
    event.id = id;
    event.length = static_cast<std::uint32_t>(text.size());
    const std::size_t padded = (text.size() + 7) / 8 * 8;
    event.header.size = static_cast<std::uint16_t>(sizeof(TextEvent) + padded);
    std::byte* to = count_drop ? reserve(event.header.size) : place(event.header.size);
    if (to == nullptr) return false;
    std::memcpy(to, &event, sizeof event);
    std::memset(to + sizeof event, 0, padded);
    std::memcpy(to + sizeof event, text.data(), text.size());
    commit(event.header.size);
    return true;
  }

  /// Writes as many of the contiguous records as fit, and publishes them together. Returns their size in bytes; does
  /// not count the others as dropped.
  std::size_t write_records(const std::byte* records, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      EventHeader header;
      std::memcpy(&header, records + done, sizeof header);
      std::byte* to = place(header.size);
      if (to == nullptr) break;
      std::memcpy(to, records + done, header.size);
      head_ += header.size;
      done += header.size;
    }
    if (done > 0) ring_->head.store(head_, std::memory_order_release);
    return done;
  }

  void count_dropped(std::uint64_t records) { ring_->dropped.fetch_add(records, std::memory_order_relaxed); }
  /// RingHeader::unwritten. Any thread.
  void add_unwritten(std::int32_t buffers) { ring_->unwritten.fetch_add(buffers, std::memory_order_relaxed); }
  void all_written() { ring_->unwritten.store(0, std::memory_order_relaxed); }

  /// The consumer's position; use it only to detect progress.
  std::uint64_t consumed() const { return ring_->tail.load(std::memory_order_acquire); }
  /// The consumer's position at the last check for space. A record that did not fit then fits only beyond it.
  std::uint64_t checked() const { return tail_; }

 private:
  std::byte* reserve(std::size_t size) {
    std::byte* to = place(size);
    if (to == nullptr) count_dropped(1);
    return to;
  }

  // Returns the space for a record, after padding where the record would cross the end; nullptr: the ring is full.
  std::byte* place(std::size_t size) {
    const std::uint64_t position = head_ & (capacity_ - 1);
    const std::uint64_t to_end = capacity_ - position;
    const std::uint64_t needed = size <= to_end ? size : to_end + size;
    if (head_ + needed - tail_ > capacity_) {
      tail_ = ring_->tail.load(std::memory_order_acquire);
      if (head_ + needed - tail_ > capacity_) return nullptr;
    }
    if (size <= to_end) return ring_->data + position;
    // The padding's size does not fit 16 bits; the consumer knows that padding reaches to the end.
    const EventHeader padding{EventKind::padding, 8, 0};
    std::memcpy(ring_->data + position, &padding, sizeof padding);
    head_ += to_end;
    return ring_->data;
  }

  void commit(std::size_t size) {
    head_ += size;
    ring_->head.store(head_, std::memory_order_release);
  }

  RingHeader* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // the consumer's position at the last check
};

/// The consuming end. One thread at a time.
class RingReader {
 public:
  RingReader() = default;
  explicit RingReader(RingHeader* ring) : RingReader(ring, ring->capacity) {}
  /// For a ring whose memory a producer may have overwritten: `capacity` is known from elsewhere.
  RingReader(RingHeader* ring, std::uint64_t capacity) : ring_(ring), capacity_(capacity) {}

  explicit operator bool() const { return ring_ != nullptr; }

  /// Calls fn(const EventHeader&) for each record, oldest first, until the ring is empty or `max_bytes` have been read.
  /// The record is a copy, valid during the call only. Returns the number of records delivered.
  template <class Fn>
  std::size_t read(Fn&& fn, std::size_t max_bytes = SIZE_MAX) {
    const std::uint64_t head = ring_->head.load(std::memory_order_acquire);
    std::uint64_t tail = ring_->tail.load(std::memory_order_relaxed);
    if (head - tail > capacity_ || (head | tail) % 8 != 0) {
      // Producers never leave such positions: something overwrote the shared memory.
      if (head != tail) ring_->tail.store(give_up(head), std::memory_order_release);
      return 0;
    }
    const std::uint64_t begin = tail;
    std::uint64_t published = tail;
    std::size_t delivered = 0;
    while (tail != head && tail - begin < max_bytes) {
      const std::uint64_t position = tail & (capacity_ - 1);
      const std::uint64_t to_end = capacity_ - position;
      EventHeader header;
      std::memcpy(&header, ring_->data + position, sizeof header);
      if (header.kind == EventKind::padding) {
        tail = to_end <= head - tail ? tail + to_end : give_up(head);
        continue;
      }
      const std::uint64_t available = head - tail < to_end ? head - tail : to_end;
      if (header.size < sizeof(EventHeader) || header.size % 8 != 0 || header.size > available ||
          header.size > kMaxEventSize) {
        tail = give_up(head);
        continue;
      }
      alignas(EventHeader) std::byte record[kMaxEventSize];
      std::memcpy(record, ring_->data + position, header.size);
      std::memcpy(record, &header, sizeof header);  // as checked
      fn(*reinterpret_cast<const EventHeader*>(record));
      ++delivered;
      tail += header.size;
      // Frees space for a waiting producer before everything is read.
      if (tail - published >= kPublishBytes) ring_->tail.store(published = tail, std::memory_order_release);
    }
    ring_->tail.store(tail, std::memory_order_release);
    return delivered;
  }

  std::uint64_t dropped() const { return ring_->dropped.load(std::memory_order_relaxed); }
  std::uint64_t corrupt() const { return corrupt_; }
  bool empty() const {
    return ring_->head.load(std::memory_order_acquire) == ring_->tail.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kPublishBytes = 64 << 10;  // read between two updates of `tail`

  std::uint64_t give_up(std::uint64_t head) {
    ++corrupt_;
    return head;
  }

  RingHeader* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t corrupt_ = 0;
};

/// The event that starts with `header`; nullptr if it is of another kind or shorter than this version's struct.
template <class Event>
const Event* event_cast(const EventHeader& header) {
  if (header.kind != Event::kKind || header.size < sizeof(Event)) return nullptr;
  return reinterpret_cast<const Event*>(&header);
}

/// The text of a TextEvent; empty if the record is damaged.
inline std::string_view text_of(const TextEvent& event) {
  if (event.header.size < sizeof(TextEvent) || event.length > event.header.size - sizeof(TextEvent)) return {};
  return {reinterpret_cast<const char*>(&event + 1), event.length};
}

}  // namespace wicprof
