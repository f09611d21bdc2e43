// Quotes the words of a command for a shell.
#pragma once

#include <string>

namespace wicprof {

/// The word, in quotes if it is empty or contains characters that a shell interprets.
inline std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace wicprof
