#include "protocol/shell_words.h"

#include <algorithm>

#include "protocol/plain_text.h"

namespace wicprof {

namespace {

bool stands_for_itself(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_-./:,=+@%^").find(c) != std::string::npos;
}

/// All that is no printable ASCII as octal numbers, which take three digits and no more.
std::string with_numbers(std::string_view word) {
  std::string quoted = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\') {
      quoted += c;
      continue;
    }
    quoted += '\\';
    for (const int shift : {6, 3, 0}) quoted += static_cast<char>('0' + (byte >> shift & 7));
  }
  return quoted + "'";
}

/// What follows $' up to its end, which is removed from the text.
std::string without_numbers(std::string_view& text) {
  std::string word;
  while (!text.empty() && text[0] != '\'') {
    const char c = text[0];
    text.remove_prefix(1);
    if (c != '\\' || text.empty()) {
      word += c;
      continue;
    }
    unsigned value = 0;
    std::size_t digits = 0;
    for (; digits < 3 && digits < text.size() && text[digits] >= '0' && text[digits] <= '7'; ++digits) {
      value = value * 8 + static_cast<unsigned>(text[digits] - '0');
    }
    if (digits == 0) {
      word += text[0];
      digits = 1;
    } else {
      word += static_cast<char>(value);
    }
    text.remove_prefix(digits);
  }
  if (!text.empty()) text.remove_prefix(1);
  return word;
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (!is_plain(word) || word.find_first_of("\n\t") != std::string_view::npos) return with_numbers(word);
  bool plain = !word.empty() && word[0] != '=';  // zsh looks for the command after a leading =
  for (const char c : word) plain = plain && stands_for_itself(c);
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  const auto word = [&]() -> std::string& {
    if (!within) words.emplace_back();
    within = true;
    return words.back();
  };
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == ' ' || c == '\t' || c == '\n') {
      within = false;
    } else if (c == '\'') {
      const std::size_t end = std::min(text.find('\''), text.size());
      word().append(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    } else if (c == '$' && !text.empty() && text[0] == '\'') {
      text.remove_prefix(1);
      word() += without_numbers(text);
    } else if (c == '\\' && !text.empty()) {
      word() += text[0];
      text.remove_prefix(1);
    } else {
      word() += c;
    }
  }
  return words;
}

}  // namespace wicprof
