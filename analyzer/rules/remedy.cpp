#include "analyzer/rules/remedy.h"

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

std::string shell_word(std::string_view text) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  const std::string word = one_line(text);
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string park_command(std::string_view site_name) { return "wic-prof toggle park --site " + shell_word(site_name); }

std::string park_command(std::string_view site_name, StrategyId strategy) {
  return park_command(site_name) + " --strategy " + std::string(strategy_name(strategy));
}

}  // namespace wicprof::analyzer
