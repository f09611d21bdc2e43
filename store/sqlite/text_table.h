// The texts of a trace: each is stored once, and known by the ring and number under which it travelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/events/header.h"

namespace wicprof::store {

/// The text with whatever is not UTF-8 (a name cut in the middle of a letter, say) replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

class TextTable {
 public:
  /// A text and the id of its row.
  using Entry = std::pair<const std::string, std::int64_t>;

  /// The entry of a text, the same for equal texts. `is_new`: its row is still to be written.
  const Entry& intern(const std::string& text, bool& is_new);

  /// From now on `number` in `ring` stands for that text.
  void bind(std::size_t ring, TextId number, const Entry& entry) {
    if (ring >= by_number_.size()) by_number_.resize(ring + 1);
    by_number_[ring][number] = &entry;
  }
  /// nullptr when that number was never bound: its text was lost.
  const Entry* find(std::size_t ring, TextId number) const;

  /// Numbers start anew in that ring: it has got another producer.
  void forget_ring(std::size_t ring) {
    if (ring < by_number_.size()) by_number_[ring].clear();
  }

  /// Forgets the texts (their rows were lost), going on with ids from `next`.
  void clear(std::int64_t next);

 private:
  std::unordered_map<std::string, std::int64_t> by_text_;            // entries stay where they are while it grows
  std::vector<std::unordered_map<TextId, const Entry*>> by_number_;  // by ring
  std::int64_t next_ = 1;
};

}  // namespace wicprof::store
