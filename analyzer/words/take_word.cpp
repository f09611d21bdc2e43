#include "analyzer/words/take_word.h"

#include <algorithm>
#include <array>

namespace wicprof::analyzer {

namespace {

/// Whether `word`, without the punctuation behind it, is a unit that belongs to the number before it.
bool is_unit(std::string_view word) {
  static constexpr std::array<std::string_view, 19> kUnits{"%",   "ns",  "us",  "ms",  "s",    "min", "h",
                                                           "k",   "M",   "G",   "T",   "B",    "KiB", "MiB",
                                                           "GiB", "TiB", "kHz", "GHz", "times"};
  while (!word.empty() && std::string_view(",;:.)").find(word.back()) != word.npos) word.remove_suffix(1);
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  std::size_t end = std::min(text.find(' '), text.size());
  if (end > 0 && end < text.size() && text[end - 1] >= '0' && text[end - 1] <= '9') {
    const std::size_t next = std::min(text.find(' ', end + 1), text.size());
    if (is_unit(text.substr(end + 1, next - end - 1))) end = next;
  }
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace wicprof::analyzer
