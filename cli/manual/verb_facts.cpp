#include "cli/manual/verb_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "cli/terminal/help_format.h"
#include "cli/terminal/usage.h"

namespace wicprof::cli {
namespace {

constexpr std::size_t kOneLine = 1'000'000;  // columns

/// In the order of the alphabet: CLI11's sets are in the order of addresses.
std::string long_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) {
    const bool has_name = !option->get_lnames().empty();
    names.push_back(has_name ? "--" + option->get_lnames().front() : option->get_single_name());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// CLI11 writes "MODE:{poll,park}" and "N:INT in [1 - 1000]".
void read_type(std::string_view type, OptionFacts& facts) {
  const std::size_t colon = type.find(':');
  facts.value = type.substr(0, colon);
  if (colon == type.npos) return;
  std::string_view check = type.substr(colon + 1);
  if (const std::size_t range = check.find("in ["); range != check.npos) {
    std::string bounds(check.substr(range + 4, check.find(']') - range - 4));
    if (const std::size_t dash = bounds.find(" - "); dash != bounds.npos) bounds.replace(dash, 3, " to ");
    facts.remarks.push_back(bounds);
  }
  if (!check.starts_with('{') || !check.ends_with('}')) return;
  std::istringstream list{std::string(check.substr(1, check.size() - 2))};
  for (std::string choice; std::getline(list, choice, ',');) facts.choices.push_back(choice);
}

OptionFacts option_facts(const CLI::Option& option) {
  OptionFacts facts;
  facts.what = option.get_description();
  if (option.nonpositional()) {
    for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
    facts.value_optional = option.get_expected_min() == 0;
    if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), facts);
    if (!option.get_default_str().empty()) facts.remarks.push_back("default: " + option.get_default_str());
    if (!option.get_needs().empty()) facts.remarks.push_back("only with " + long_names(option.get_needs()));
    if (!option.get_excludes().empty()) facts.remarks.push_back("not with " + long_names(option.get_excludes()));
  } else {
    OptionFacts type;
    read_type(option.get_type_name(), type);
    facts.choices = type.choices;
    facts.names.push_back(option.get_single_name());
  }
  return facts;
}

/// The indented lines of a footer: "Example:\n  wic-prof explain wake latency".
std::string commands_of(const std::string& footer) {
  std::istringstream lines(footer);
  std::string commands;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) commands += line.substr(2) + "\n";
  }
  return commands;
}

}  // namespace

VerbFacts facts_of(const CLI::App& app) {
  VerbFacts facts{app.get_name(), {}, app.get_description(), commands_of(app.get_footer()), {}, {}};
  facts.usage = HelpFormat(kOneLine).make_usage(&app, full_name(app));
  facts.usage = facts.usage.substr(sizeof "Usage: " - 1, facts.usage.find_last_not_of('\n') - (sizeof "Usage: " - 2));
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    if (!option->nonpositional()) {
      facts.arguments.push_back(option_facts(*option));
      continue;
    }
    const auto group = std::find_if(facts.groups.begin(), facts.groups.end(),
                                    [&](const OptionGroup& known) { return known.title == option->get_group(); });
    OptionGroup& into =
        group == facts.groups.end() ? facts.groups.emplace_back(OptionGroup{option->get_group(), {}}) : *group;
    into.options.push_back(option_facts(*option));
  }
  return facts;
}

std::vector<VerbFacts> verbs_of(const CLI::App& program) {
  std::vector<VerbFacts> verbs;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); })) {
    verbs.push_back(facts_of(*verb));
  }
  return verbs;
}

}  // namespace wicprof::cli
