// PTX text as tokens. Each token knows its bytes, so that everything between tokens is kept as it is.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace wicprof::rewriter {

/// Bytes of the PTX text, from `begin` up to but not including `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

enum class TokenKind {
  word,         ///< a name, a register, an instruction with its modifiers, a directive with its dot
  number,       ///< 12, 0x1F, 0f3F800000, 9.0
  string,       ///< with its quotes
  punctuation,  ///< one character
};

struct Token {
  TokenKind kind = TokenKind::punctuation;
  Range range;
  std::string_view text;  ///< the token's bytes, inside the text that was given to tokens_of()
};

/// The tokens of `text`; comments and white space are between them. The tokens refer to `text`, which must outlive
/// them. Fails on a byte that PTX does not use and on a comment or a string without an end; the message names the line.
Result<std::vector<Token>> tokens_of(std::string_view text);

/// The number of the line that contains the byte, from 1.
std::size_t line_of(std::string_view text, std::size_t byte);

/// The same for many bytes of one text.
class Lines {
 public:
  explicit Lines(std::string_view text);
  std::size_t of(std::size_t byte) const;

 private:
  std::vector<std::size_t> ends_;  // bytes that end a line
};

}  // namespace wicprof::rewriter
