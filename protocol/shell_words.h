// Words of commands for a shell: a command that is printed can be copied, whatever names are in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wicprof {

/// The word, in quotes if it is empty or contains characters that a shell interprets; with $'...' where a terminal
/// would not show it as it is.
std::string shell_word(std::string_view word);

/// Shell words, one after another.
std::string shell_command(const std::vector<std::string>& words);

/// The words of a command as shell_command() writes it. Whatever else a shell would interpret stands for itself.
std::vector<std::string> words_of(std::string_view command);

/// A command from a file, which may hold anything, as one that can be copied.
inline std::string safe_command(std::string_view command) { return shell_command(words_of(command)); }

}  // namespace wicprof
