// The texts of a trace: each is stored once, and found by the ring and number that it was sent with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "protocol/events/header.h"

namespace wicprof::store {

/// The text with each invalid sequence (a name cut inside a character, say) and each NUL replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// A text as readers show it: of a longer text than any recorded name, the begin, and its length. Keeps a file with
/// texts of megabytes from making reports of gigabytes.
inline constexpr std::size_t kMaxShownText = 4096;
std::string clipped(std::string_view text);

class TextTable {
 public:
  /// A text and the id of its row.
  using Entry = std::pair<const std::string, std::int64_t>;

  /// The entry of a text, the same for equal texts. `is_new`: the caller has yet to write its row.
  const Entry& intern(const std::string& text, bool& is_new);

  /// From now on `number` in `ring` refers to this text. A ring's numbers grow; the table keeps the newest kMaxNumbers
  /// to twice as many of each ring.
  static constexpr std::size_t kMaxNumbers = 2 * 65'536;  // a producer refers to its last 65,536 (EventSink)
  void bind(std::size_t ring, TextId number, const Entry& entry);
  /// nullptr when the number was never bound because its text was lost.
  const Entry* find(std::size_t ring, TextId number) const;

  /// The ring has a new producer, which numbers its texts from the start.
  void forget_ring(std::size_t ring) {
    if (ring < by_number_.size()) by_number_[ring].clear();
  }

  /// Texts in memory.
  std::size_t size() const { return by_text_.size(); }

  /// The id that the next new text gets.
  std::int64_t next() const { return next_; }

  /// The ids of the texts that numbers refer to.
  std::unordered_set<std::int64_t> bound_ids() const;
  /// Forgets all other texts than `kept`, which contains bound_ids(). A forgotten text that comes again gets a new id.
  void forget_others(const std::unordered_set<std::int64_t>& kept) {
    std::erase_if(by_text_, [&](const auto& entry) { return !kept.contains(entry.second); });
  }

  /// Forgets the texts, whose rows were lost; new ids start at `next`.
  void clear(std::int64_t next);

 private:
  std::unordered_map<std::string, std::int64_t> by_text_;            // growing moves no entry
  std::vector<std::unordered_map<TextId, const Entry*>> by_number_;  // by ring
  std::int64_t next_ = 1;
};

}  // namespace wicprof::store
