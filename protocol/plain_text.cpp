#include "protocol/plain_text.h"

namespace wicprof {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

char32_t code_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7fu >> character.size());
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  return code;
}

bool shows_as_it_is(char32_t code) {
  if (code == '\n' || code == '\t') return true;
  const bool controls = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns_writing = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !controls && !turns_writing;
}

std::size_t colour_length(std::string_view text) {
  for (const std::string_view colour : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m"}) {
    if (text.substr(0, colour.size()) == colour) return colour.size();
  }
  return 0;
}

/// The bytes at the begin that are plain.
std::size_t plain_bytes(std::string_view text, Colours colours) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte >= 0x20 && byte < 0x7f) || byte == '\n') {
      ++at;
      continue;
    }
    if (const std::size_t colour = colours == Colours::ours ? colour_length(text.substr(at)) : 0; colour != 0) {
      at += colour;
      continue;
    }
    if (text.substr(at, 2) == "\r\n") {
      at += 2;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0 || !shows_as_it_is(code_of(text.substr(at, length)))) break;
    at += length;
  }
  return at;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than necessary, a surrogate, or beyond Unicode.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

bool is_plain(std::string_view text, Colours colours) { return plain_bytes(text, colours) == text.size(); }

std::string plain_text(std::string_view text, Colours colours) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = plain_bytes(text, colours);
    plain.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    plain.append(kReplacement);
    const std::size_t length = utf8_length(text);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return plain;
}

}  // namespace wicprof
