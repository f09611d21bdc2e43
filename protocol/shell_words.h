// A command as somebody would type it.
#pragma once

#include <string>

namespace wicprof {

/// The word, in quotes where a shell would take it for something else.
inline std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace wicprof
