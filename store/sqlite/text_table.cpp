#include "store/sqlite/text_table.h"

#include <utf8.h>

#include <iterator>

namespace wicprof::store {

std::string valid_utf8(std::string_view text) {
  constexpr const char* kReplacement = "\xef\xbf\xbd";  // U+FFFD
  std::string valid;
  valid.reserve(text.size());
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(valid));
  // A NUL is valid UTF-8, but ends the text for SQLite's functions and many readers.
  for (std::size_t at = valid.find('\0'); at != std::string::npos; at = valid.find('\0', at)) {
    valid.replace(at, 1, kReplacement);
  }
  return valid;
}

std::string clipped(std::string_view text) {
  if (text.size() <= kMaxShownText) return std::string(text);
  std::size_t end = kMaxShownText;
  while (end > kMaxShownText - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes)";
}

const TextTable::Entry& TextTable::intern(const std::string& text, bool& is_new) {
  const auto [at, inserted] = by_text_.try_emplace(text, next_);
  if (inserted) ++next_;
  is_new = inserted;
  return *at;
}

void TextTable::bind(std::size_t ring, TextId number, const Entry& entry) {
  if (ring >= by_number_.size()) by_number_.resize(ring + 1);
  auto& numbers = by_number_[ring];
  numbers[number] = &entry;
  if (numbers.size() <= 2 * kMaxNumbers) return;
  std::erase_if(numbers, [number](const auto& bound) { return number - bound.first >= kMaxNumbers; });
}

std::unordered_set<std::int64_t> TextTable::bound_ids() const {
  std::unordered_set<std::int64_t> bound;
  for (const auto& numbers : by_number_) {
    for (const auto& [number, entry] : numbers) bound.insert(entry->second);
  }
  return bound;
}

const TextTable::Entry* TextTable::find(std::size_t ring, TextId number) const {
  if (ring >= by_number_.size()) return nullptr;
  const auto at = by_number_[ring].find(number);
  return at == by_number_[ring].end() ? nullptr : at->second;
}

void TextTable::clear(std::int64_t next) {
  by_text_.clear();
  by_number_.clear();
  next_ = next;
}

}  // namespace wicprof::store
