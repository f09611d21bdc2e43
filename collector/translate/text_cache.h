// The ids of texts that CUPTI delivers repeatedly; known texts need neither a lock nor hashing of the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/event_batch.h"

namespace wicprof::collector {

/// One thread at a time; one sink per cache.
class TextCache {
 public:
  /// The id of readable(text); 0 for nullptr. Finds a text by its address and then compares the characters: CUPTI keeps
  /// a kernel's name at one address, but after a module is unloaded another name may occupy that address.
  template <class Readable>
  TextId find(const char* text, EventBatch& batch, Readable&& readable) {
    if (text == nullptr) return 0;
    if (generation_ != batch.text_generation()) {
      generation_ = batch.text_generation();
      entries_ = {};
    }
    Entry& entry = entries_[slot(text)];
    if (entry.at == text && entry.copy == text) return entry.id;
    const TextId id = batch.text(readable(text));
    if (id != 0) {  // 0: the ring was full, so the next find() tries again
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
  std::uint32_t generation_ = 0;  // of the sink's texts
};

}  // namespace wicprof::collector
