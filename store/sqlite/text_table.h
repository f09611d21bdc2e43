// The texts of a trace: each is stored once, and found by the ring and number that it was sent with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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

/// A text gets an id, and with the id a row, when the first row of the trace refers to the text: a program that names
/// every iteration does not fill the file with names of rows that were removed or never written. Ids grow and are never
/// used twice. The memory that one ring's producer takes is bounded.
class TextTable {
 public:
  /// A text and the id of its row in the trace; 0 while it has none.
  using Entry = std::pair<const std::string, std::int64_t>;

  /// The entry of a text, the same for equal texts.
  Entry& intern(const std::string& text);

  /// Gives the entry an id if it has none. True: the caller has yet to write its row.
  bool give_id(Entry& entry) {
    if (entry.second != 0) return false;
    entry.second = next_++;
    return true;
  }

  /// From now on `number` in `ring` refers to this text, which had `bytes` bytes when it was sent. Of each ring the
  /// table keeps the newest numbers: kMaxNumbers of them, or fewer whose texts take kMaxNumberBytes. Both are twice
  /// what a producer refers to (EventSink).
  static constexpr std::size_t kMaxNumbers = 2 * 65'536;
  static constexpr std::size_t kMaxNumberBytes = std::size_t{2} * (8 << 20);
  void bind(std::size_t ring, TextId number, Entry& entry, std::size_t bytes);
  /// nullptr when the number was never bound because its text was lost.
  Entry* find(std::size_t ring, TextId number) const;

  /// The ring has a new producer, which numbers its texts from the start.
  void forget_ring(std::size_t ring) {
    if (ring < rings_.size()) rings_[ring] = {};
  }

  /// Texts in memory, and their bytes.
  std::size_t size() const { return by_text_.size(); }
  std::size_t bytes() const { return bytes_; }

  /// The id that the next text gets.
  std::int64_t next() const { return next_; }
  /// Ids start here: another file has the smaller ones.
  void start_at(std::int64_t next) { next_ = next; }

  /// The trace has no rows of texts any more, or is another file.
  void forget_ids() {
    for (auto& [text, id] : by_text_) id = 0;
  }
  /// The trace has only these rows of texts left; forgets texts without a row and a number.
  void forget_ids_but(const std::unordered_set<std::int64_t>& kept);

  /// Forgets all texts that no number refers to. A forgotten text that comes again gets another id.
  void forget_unbound();

 private:
  struct Number {
    Entry* entry;
    std::uint64_t serial;
  };
  struct Bound {
    TextId number;
    std::uint64_t serial;
    std::size_t bytes;
  };
  struct Ring {
    std::unordered_map<TextId, Number> by_number;
    std::deque<Bound> order;  // oldest first; may name numbers that were bound again since
    std::size_t bytes = 0;    // of `order`
    std::uint64_t serial = 0;
  };

  std::unordered_set<const Entry*> bound() const;
  template <class Condition>
  void forget_if(Condition&& condition);

  std::unordered_map<std::string, std::int64_t> by_text_;  // growing moves no entry
  std::size_t bytes_ = 0;
  std::vector<Ring> rings_;
  std::int64_t next_ = 1;
};

}  // namespace wicprof::store
