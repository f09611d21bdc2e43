#include "rewriter/text/tokens.h"

#include <algorithm>
#include <string>

namespace wicprof::rewriter {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}
bool continues_word(char c) { return begins_word(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

constexpr std::string_view kPunctuation = "{}()[]<>,;:=+-*/|@!&~^?#";

}  // namespace

std::size_t line_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

Lines::Lines(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ends_.push_back(at);
  }
}

std::size_t Lines::of(std::size_t byte) const {
  return 1 + static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), byte) - ends_.begin());
}

Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  const auto add = [&](TokenKind kind, std::size_t begin, std::size_t end) {
    tokens.push_back({kind, {begin, end}, text.substr(begin, end - begin)});
  };
  const auto refuse = [&](std::size_t at, const std::string& what) {
    return bad_input("line " + std::to_string(line_of(text, at)) + ": " + what);
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (is_space(c)) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) return refuse(at, "a comment has no end");
      at = end + 2;
    } else if (c == '"') {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size() || text[end] != '"') return refuse(at, "a string has no end");
      add(TokenKind::string, at, end + 1);
      at = end + 1;
    } else if (is_digit(c)) {
      std::size_t end = at + 1;
      while (end < text.size() && continues_word(text[end]) && text[end] != '%' && text[end] != '$') ++end;
      add(TokenKind::number, at, end);
      at = end;
    } else if (begins_word(c)) {
      std::size_t end = at + 1;
      while (end < text.size()) {
        // Modifiers such as .shared::cta and .L2::256B
        const bool part = text.substr(end, 2) == "::" && end + 2 < text.size() && continues_word(text[end + 2]);
        if (!part && !continues_word(text[end])) break;
        end += part ? 2 : 1;
      }
      add(TokenKind::word, at, end);
      at = end;
    } else if (kPunctuation.find(c) != std::string_view::npos) {
      add(TokenKind::punctuation, at, at + 1);
      ++at;
    } else if (c == '\0' && text.find_first_not_of('\0', at) == std::string_view::npos) {
      break;  // PTX from a fat binary ends with NUL bytes
    } else {
      return refuse(at, "a byte that PTX does not use");
    }
  }
  return tokens;
}

}  // namespace wicprof::rewriter
