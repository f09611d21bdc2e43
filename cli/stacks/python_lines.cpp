#include "cli/stacks/python_lines.h"

#include <cstddef>

namespace wicprof::cli {

namespace {

/// Reads an entry's bytes. Once they end, all that follows is 0 and good() is false.
class LineTable {
 public:
  explicit LineTable(std::string_view bytes) : left_(bytes) {}

  bool good() const { return good_; }
  bool at_end() const { return left_.empty(); }
  void skip(std::size_t bytes) {
    good_ = good_ && bytes <= left_.size();
    left_.remove_prefix(good_ ? bytes : left_.size());
  }
  std::uint8_t byte() {
    const auto value = left_.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(left_.front());
    skip(1);
    return value;
  }
  /// Six bits per byte, the lowest first; 0x40: another byte follows.
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const std::uint8_t part = byte();
      value |= (part & 0x3fu) << shift;
      if ((part & 0x40) == 0) break;
    }
    return value;
  }
  /// The lowest bit is the sign.
  std::int32_t signed_number() {
    const std::uint32_t value = number();
    const auto size = static_cast<std::int32_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }

 private:
  std::string_view left_;
  bool good_ = true;
};

// Kinds of entries; smaller ones have columns of the same line.
constexpr unsigned kNextLines = 10, kNoColumns = 13, kLongPlace = 14, kNoPlace = 15;

}  // namespace

std::uint32_t python_line(std::string_view table, std::uint32_t first, std::uint64_t unit) {
  LineTable entries(table);
  std::int64_t line = first;
  for (std::uint64_t begin = 0; !entries.at_end();) {
    const std::uint8_t head = entries.byte();
    const unsigned kind = head >> 3 & 15;
    begin += (head & 7u) + 1;
    if (kind == kNoColumns || kind == kLongPlace) line += entries.signed_number();
    if (kind == kLongPlace) {
      for (int i = 0; i < 3; ++i) entries.number();  // the last line, and columns
    } else if (kind >= kNextLines && kind < kNoColumns) {
      line += kind - kNextLines;
      entries.skip(2);
    } else if (kind < kNextLines) {
      entries.skip(1);
    }
    if (!entries.good()) break;
    if (unit < begin) return kind == kNoPlace || line <= 0 ? first : static_cast<std::uint32_t>(line);
  }
  return first;
}

}  // namespace wicprof::cli
