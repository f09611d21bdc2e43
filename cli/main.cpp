// wic-prof: reads the command line and runs the verb.
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/list.h"
#include "cli/files/output_file.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/help_format.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "cli/terminal/usage.h"
#include "cli/terminal/width.h"

namespace wicprof::cli {

namespace {

int main_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  // What follows `--` belongs to the program that run, why and ci start; CLI11 must not parse it.
  ProgramWords program;
  if (!words.empty() && (words[0] == "run" || words[0] == "why" || words[0] == "ci")) {
    const auto mark = std::find(words.begin(), words.end(), "--");
    if (mark != words.end()) {
      program.assign(mark + 1, words.end());
      words.erase(mark, words.end());
    }
  }

  CLI::App app("Who waits for whom on this machine's GPUs, and what changes when waiters park instead of poll.",
               "wic-prof");
  app.set_version_flag("-V,--version", "wic-prof " WICPROF_VERSION);
  app.footer(
      "Example:\n  wic-prof run --schedule poll:2s,park:2s -- ./app\n\nwic-prof help VERB lists the options of a "
      "verb.");
  app.formatter(std::make_shared<HelpFormat>(help_width(STDOUT_FILENO)));  // the verbs inherit it
  app.require_subcommand(1);
  std::vector<VerbBody> bodies;
  for (const Command& c : kCommands) bodies.push_back(c.declare(*app.add_subcommand(c.name, c.what), program));
  if (words.empty()) {
    show(help_of(app));
    return fail(bad_input("name one of these verbs"));
  }
  if (!words[0].starts_with('-') && verb_of(app, words[0]) == nullptr) return fail(no_verb(app, words[0]));

  try {
    std::reverse(words.begin(), words.end());  // CLI11 reads from the back
    app.parse(words);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text, text);
    return print_answer(text.str());
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(app, error));
  }
  for (std::size_t i = 0; i < std::size(kCommands); ++i) {
    if (app.got_subcommand(kCommands[i].name)) return bodies[i]();
  }
  return kBadInput;
}

}  // namespace

}  // namespace wicprof::cli

int main(int argc, char** argv) try {
  wicprof::cli::prepare_process();
  return wicprof::cli::main_of(argc, argv);
} catch (const std::bad_alloc&) {
  return wicprof::cli::fail_without_memory("or work on a smaller trace");
} catch (const std::exception& e) {
  return wicprof::cli::fail(wicprof::unavailable(std::string("unexpected failure: ") + e.what()));
}
