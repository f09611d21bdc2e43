#include "store/sqlite/text_table.h"

namespace wicprof::store {

namespace {

// The length of the well-formed UTF-8 sequence that `text` starts with; 0 when there is none (or a NUL, which ends
// texts for many a reader).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead != 0 && lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xbf;  // what the second byte may be: no overlong forms, no surrogates
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    valid += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

const TextTable::Entry& TextTable::intern(const std::string& text, bool& is_new) {
  const auto [at, inserted] = by_text_.try_emplace(text, next_);
  if (inserted) ++next_;
  is_new = inserted;
  return *at;
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
