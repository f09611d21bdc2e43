// What is wrong with a command line. CLI11 distinguishes many kinds of usage errors; wic-prof has one.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyzer/words/nearest.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// "wic-prof run": what shows the help of `app` with --help behind it.
inline std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

/// What --help prints. CLI11 has the help text of the verb that was named, unless it is asked for another one's.
inline std::string help_of(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, full_name(app), CLI::AppFormatMode::Normal);
}

/// nullptr: there is no such verb.
inline const CLI::App* verb_of(const CLI::App& program, const std::string& name) {
  const auto verbs = program.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
  return verbs.empty() ? nullptr : verbs.front();
}

inline Error no_verb(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); })) {
    names.push_back(verb->get_name());
  }
  return bad_input(fmt::format("unknown verb '{}'; {}the verbs are {}", name,
                               analyzer::did_you_mean(name, {names.begin(), names.end()}), fmt::join(names, ", ")));
}

/// For an option that `app` does not have.
inline Error no_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  return bad_input(fmt::format("{} has no option {}; {}see {} --help", app.get_name(), name,
                               analyzer::did_you_mean(name, {names.begin(), names.end()}), full_name(app)));
}

/// The verb that was named, else the program.
inline Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  const CLI::App& verb = verbs.empty() ? app : *verbs.back();
  for (const std::string& word : verb.remaining()) {
    if (word.size() > 1 && word.front() == '-') return no_option(verb, word);
  }
  return bad_input(fmt::format("{}; see {} --help", error.what(), full_name(verb)));
}

}  // namespace wicprof::cli
