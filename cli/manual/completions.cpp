#include "cli/manual/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "protocol/shell_words.h"

namespace wicprof::cli {
namespace {

constexpr std::size_t kLongestRemark = 70;  // characters, so that a line of the list fits a terminal

/// The first clause of a description.
std::string remark(std::string_view text) {
  std::size_t end = std::min({text.find("; "), text.find(". "), text.find(": "), text.size()});
  if (end > kLongestRemark) end = std::min(text.rfind(' ', kLongestRemark), end);
  return std::string(text.substr(0, end));
}

std::string replaced(std::string text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<const OptionFacts*> options_of(const VerbFacts& verb) {
  std::vector<const OptionFacts*> options;
  for (const OptionGroup& group : verb.groups) {
    for (const OptionFacts& option : group.options) options.push_back(&option);
  }
  return options;
}

std::vector<std::string> names_of(const std::vector<VerbFacts>& verbs) {
  std::vector<std::string> names;
  for (const VerbFacts& verb : verbs) names.push_back(verb.name);
  return names;
}

/// All names, each with its dashes.
std::vector<std::string> names_of(const std::vector<const OptionFacts*>& options) {
  std::vector<std::string> names;
  for (const OptionFacts* option : options) names.insert(names.end(), option->names.begin(), option->names.end());
  return names;
}

/// The values of an argument: an argument VERB is one of `verbs`.
std::vector<std::string> choices_of(const OptionFacts& argument, const std::vector<VerbFacts>& verbs) {
  return argument.names.front() == "VERB" ? names_of(verbs) : argument.choices;
}

bool is_file(std::string_view value) { return value == "FILE" || value == "PNG"; }

/// "'-o[the output]:FILE:_files'"
std::string zsh_option(const OptionFacts& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    std::string spec = fmt::format("(help){}{}[{}]", name,
                                   option.value.empty() ? ""
                                   : is_long            ? "="
                                                        : "+",
                                   replaced(remark(option.what), "[]:\\"));
    if (option.names.size() > 1)
      spec.replace(0, 6, fmt::format("({})", fmt::join(option.names, " ")));
    else
      spec.erase(0, 6);
    if (!option.value.empty()) {
      std::string values;
      if (!option.choices.empty())
        values = fmt::format("({})", fmt::join(option.choices, " "));
      else if (is_file(option.value))
        values = "_files";
      else if (option.value == "FOLDER")
        values = "_files -/";
      spec += fmt::format("{}:{}:{}", option.value_optional ? ":" : "", replaced(option.value, "[]:\\"), values);
    }
    text += fmt::format("        {} \\\n", shell_word(spec));
  }
  return text;
}

}  // namespace

std::string bash_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs) {
  std::string values, options, arguments;
  for (const VerbFacts& verb : verbs) {
    const std::vector<const OptionFacts*> all = options_of(verb);
    for (const OptionFacts* option : all) {
      if (option->value.empty() || option->value_optional) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option->names) patterns.push_back(fmt::format("'{} {}'", verb.name, name));
      // Without choices bash completes the names of files.
      values += fmt::format("    {}) words='{}' ;;\n", fmt::join(patterns, "|"), fmt::join(option->choices, " "));
    }
    options += fmt::format("      {}) words='{}' ;;\n", verb.name, fmt::join(names_of(all), " "));
    for (const OptionFacts& argument : verb.arguments) {
      if (const auto choices = choices_of(argument, verbs); !choices.empty()) {
        arguments += fmt::format("      {}) words='{}' ;;\n", verb.name, fmt::join(choices, " "));
      }
    }
  }
  return fmt::format(R"bash(# Completion of wic-prof for bash, made from its options when it was built.
_wic_prof() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} words= i
  COMPREPLY=()
  # bash separates words at `=`.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  # Behind -- stands another program.
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} {}' -- "$current"))
    return
  fi
  case "$verb $before" in
{}    *)
      if [[ $current == -* ]]; then
        case $verb in
{}        esac
      else
        case $verb in
{}        esac
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _wic_prof wic-prof
)bash",
                     fmt::join(names_of(verbs), " "), fmt::join(names_of(options_of(program)), " "), values, options,
                     arguments);
}

std::string zsh_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs) {
  std::string names, cases;
  for (const VerbFacts& verb : verbs) {
    names += fmt::format("        {}\n", shell_word(verb.name + ":" + replaced(verb.what, ":\\")));
    cases += fmt::format("    {})\n      _arguments -s \\\n", verb.name);
    for (const OptionFacts* option : options_of(verb)) cases += zsh_option(*option);
    for (const OptionFacts& argument : verb.arguments) {
      const auto choices = choices_of(argument, verbs);
      cases += fmt::format("        {} \\\n",
                           shell_word(fmt::format("*:{}:{}", argument.names.front(),
                                                  !choices.empty() ? fmt::format("({})", fmt::join(choices, " "))
                                                  : is_file(argument.names.front()) ? "_files"
                                                                                    : "")));
    }
    if (verb.usage.find("-- APP") != verb.usage.npos) cases += "        '*:::APP:_normal' \\\n";
    cases += "        && return\n      ;;\n";
  }
  std::string own;
  for (const OptionFacts* option : options_of(program)) own += zsh_option(*option);
  return fmt::format(R"zsh(#compdef wic-prof
# Completion of wic-prof for zsh, made from its options when it was built.
_wic_prof() {{
  local curcontext=$curcontext state line
  local -a verbs
  _arguments -C \
{}        '1:verb:->verb' '*::argument:->argument' && return
  case $state in
    verb)
      verbs=(
{}      )
      _describe verb verbs
      return
      ;;
  esac
  case $line[1] in
{}  esac
}}
_wic_prof "$@"
)zsh",
                     own, names, cases);
}

std::string fish_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs) {
  const auto quoted = [](const std::string& text) { return "'" + replaced(text, "'\\") + "'"; };
  const auto names = [](const OptionFacts& option) {
    std::string text;
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    return text;
  };
  std::string text =
      "# Completion of wic-prof for fish, made from its options when it was built.\ncomplete -c wic-prof -f\n";
  for (const OptionFacts* option : options_of(program)) {
    text += fmt::format("complete -c wic-prof -n __fish_use_subcommand{} -d {}\n", names(*option),
                        quoted(remark(option->what)));
  }
  for (const VerbFacts& verb : verbs) {
    text += fmt::format("complete -c wic-prof -n __fish_use_subcommand -a {} -d {}\n", verb.name, quoted(verb.what));
    const std::string when =
        fmt::format("complete -c wic-prof -n {}", quoted("__fish_seen_subcommand_from " + verb.name));
    for (const OptionFacts* option : options_of(verb)) {
      text += when + names(*option);
      if (!option->choices.empty())
        text += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(option->choices, " "))));
      else if (is_file(option->value) || option->value == "FOLDER")
        text += " -r -F";
      else if (!option->value.empty() && !option->value_optional)
        text += " -x";
      text += fmt::format(" -d {}\n", quoted(remark(option->what)));
    }
    bool files = verb.usage.find("-- APP") != verb.usage.npos;
    for (const OptionFacts& argument : verb.arguments) {
      const auto choices = choices_of(argument, verbs);
      if (!choices.empty()) text += fmt::format("{} -a {}\n", when, quoted(fmt::format("{}", fmt::join(choices, " "))));
      files = files || is_file(argument.names.front());
    }
    if (files) text += when + " -F\n";
  }
  return text;
}

}  // namespace wicprof::cli
