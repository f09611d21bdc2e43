// wic-prof help: the help text of a verb, as with --help.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/output_file.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/usage.h"

namespace wicprof::cli {

template <>
VerbBody declare<struct HelpVerb>(CLI::App& verb, const ProgramWords&) {
  const auto name = std::make_shared<std::string>();
  verb.add_option("VERB", *name, "the verb; without it: all verbs");
  add_example(verb, "wic-prof help run");
  return [name, &program = *verb.get_parent()]() -> int {
    if (name->empty()) return print_answer(help_of(program));
    const CLI::App* const wanted = verb_of(program, *name);
    return wanted != nullptr ? print_answer(help_of(*wanted)) : fail(no_verb(program, *name));
  };
}

}  // namespace wicprof::cli
