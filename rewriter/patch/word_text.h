// A wait's word in the text of a visit.
#pragma once

#include <string>

#include "rewriter/waits/word.h"

namespace wicprof::rewriter {

/// The address, into a 64-bit register.
inline std::string address_text(const Word& word, const std::string& to) {
  return "add.s64 " + to + ", " + std::string(word.address) + ", " + std::to_string(word.offset) + ";\n";
}

/// What the round's poll has read, into a 64-bit register.
inline std::string seen_text(const Word& word, const std::string& to) {
  return (word.is_64_bit ? "mov.b64 " : "cvt.u64.u32 ") + to + ", " + std::string(word.value) + ";\n";
}

}  // namespace wicprof::rewriter
