#include "store/sqlite/text_table.h"

#include <utf8.h>

#include <algorithm>
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

namespace {

/// The begin of a text, cut between characters.
std::string_view shown_part(std::string_view text) {
  std::size_t end = std::min(text.size(), kMaxShownText);
  if (end < text.size()) {
    while (end > kMaxShownText - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  }
  return text.substr(0, end);
}

}  // namespace

std::string clipped(std::string_view text) {
  const std::string_view begin = shown_part(text);
  // Another program may have written the trace.
  const bool valid = utf8::is_valid(begin.begin(), begin.end()) && begin.find('\0') == std::string_view::npos;
  std::string shown = valid ? std::string(begin) : valid_utf8(begin);
  // What stands for bytes that are no text is longer than they are.
  const std::size_t bytes = shown_part(shown).size();
  const bool cut = begin.size() < text.size() || bytes < shown.size();
  shown.resize(bytes);
  if (cut) shown += "... (" + std::to_string(text.size()) + " bytes)";
  return shown;
}

namespace {
// What an entry takes besides its characters: nodes of two hash tables and an element of the order. About; not
// measured.
constexpr std::size_t kEntryBytes = 128;
}  // namespace

TextTable::Entry& TextTable::intern(const std::string& text) {
  const auto [at, inserted] = by_text_.try_emplace(text, 0);
  if (inserted) bytes_ += text.size() + kEntryBytes;
  return *at;
}

void TextTable::bind(std::size_t ring, TextId number, Entry& entry, std::size_t bytes) {
  if (ring >= rings_.size()) rings_.resize(ring + 1);
  Ring& to = rings_[ring];
  to.by_number[number] = {&entry, ++to.serial};
  to.order.push_back({number, to.serial, bytes});
  to.bytes += bytes;
  while (to.order.size() > kMaxNumbers || to.bytes - to.order.front().bytes >= kMaxNumberBytes) {
    const Bound oldest = to.order.front();
    to.order.pop_front();
    to.bytes -= oldest.bytes;
    const auto known = to.by_number.find(oldest.number);
    if (known != to.by_number.end() && known->second.serial == oldest.serial) to.by_number.erase(known);
  }
}

TextTable::Entry* TextTable::find(std::size_t ring, TextId number) const {
  if (ring >= rings_.size()) return nullptr;
  const auto at = rings_[ring].by_number.find(number);
  return at == rings_[ring].by_number.end() ? nullptr : at->second.entry;
}

std::unordered_set<const TextTable::Entry*> TextTable::bound() const {
  std::unordered_set<const Entry*> bound;
  for (const Ring& ring : rings_) {
    for (const auto& [number, known] : ring.by_number) bound.insert(known.entry);
  }
  return bound;
}

template <class Condition>
void TextTable::forget_if(Condition&& condition) {
  std::erase_if(by_text_, [&](const Entry& entry) {
    if (!condition(entry)) return false;
    bytes_ -= entry.first.size() + kEntryBytes;
    return true;
  });
}

void TextTable::forget_ids_but(const std::unordered_set<std::int64_t>& kept) {
  for (auto& [text, id] : by_text_) {
    if (!kept.contains(id)) id = 0;
  }
  const std::unordered_set<const Entry*> numbered = bound();
  forget_if([&](const Entry& entry) { return entry.second == 0 && !numbered.contains(&entry); });
}

void TextTable::forget_unbound() {
  const std::unordered_set<const Entry*> numbered = bound();
  forget_if([&](const Entry& entry) { return !numbered.contains(&entry); });
}

}  // namespace wicprof::store
