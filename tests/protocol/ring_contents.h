// A ring in plain memory, and the records read from it, for tests.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/ring.h"

namespace wicprof {

/// Everything read from a ring, texts resolved.
struct Delivered {
  std::vector<std::vector<std::uint64_t>> records;  // 8-byte aligned copies
  std::map<TextId, std::string> texts;

  explicit Delivered(RingHeader* ring) {
    RingReader reader(ring);
    reader.read([this](const EventHeader& header) {
      std::vector<std::uint64_t> copy(header.size / 8);
      std::memcpy(copy.data(), &header, header.size);
      if (const auto* text = event_cast<TextEvent>(header)) texts[text->id] = std::string(text_of(*text));
      records.push_back(std::move(copy));
    });
  }

  template <class Event>
  std::vector<Event> all() const {
    std::vector<Event> events;
    for (const auto& record : records) {
      if (const auto* event = event_cast<Event>(*reinterpret_cast<const EventHeader*>(record.data()))) {
        events.push_back(*event);
      }
    }
    return events;
  }
  std::string text(TextId id) const {
    const auto found = texts.find(id);
    return found == texts.end() ? "" : found->second;
  }
};

class PlainRing {
 public:
  explicit PlainRing(std::size_t capacity = std::size_t{1} << 20)
      : memory_(std::aligned_alloc(64, (ring_bytes(capacity) + 63) / 64 * 64), &std::free) {
    ring_ = make_ring(memory_.get(), capacity);
  }
  RingHeader* ring() const { return ring_; }
  Delivered read() const { return Delivered(ring_); }

 private:
  std::unique_ptr<void, decltype(&std::free)> memory_;
  RingHeader* ring_;
};

}  // namespace wicprof
