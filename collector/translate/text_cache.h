// The numbers of texts that CUPTI hands out again and again: no lock and no hashing for those seen before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/event_batch.h"

namespace wicprof::collector {

/// One thread at a time, one sink.
class TextCache {
 public:
  /// The number of readable(text); 0 for nullptr. Texts are found by where they lie, and compared: CUPTI keeps a
  /// kernel's name at one place, but another module's may come to lie there later.
  template <class Readable>
  TextId find(const char* text, EventBatch& batch, Readable&& readable) {
    if (text == nullptr) return 0;
    Entry& entry = entries_[slot(text)];
    if (entry.at == text && entry.copy == text) return entry.id;
    const TextId id = batch.text(readable(text));
    if (id != 0) {  // else the ring had no room: the next time may be luckier
      entry.at = text;
      entry.copy = text;
      entry.id = id;
    }
    return id;
  }

 private:
  struct Entry {
    const char* at = nullptr;
    std::string copy;
    TextId id = 0;
  };
  static constexpr std::size_t kEntries = 512;

  static std::size_t slot(const char* text) {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(text) * 0x9e37'79b9'7f4a'7c15u) >> 55);
  }
  static_assert(kEntries == std::size_t{1} << (64 - 55));

  std::array<Entry, kEntries> entries_;
};

}  // namespace wicprof::collector
