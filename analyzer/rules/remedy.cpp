#include "analyzer/rules/remedy.h"

#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {

std::string park_command(std::string_view site_name) { return "wic-prof toggle park --site " + shell_word(site_name); }

std::string park_command(std::string_view site_name, StrategyId strategy) {
  return park_command(site_name) + " --strategy " + std::string(strategy_name(strategy));
}

}  // namespace wicprof::analyzer
