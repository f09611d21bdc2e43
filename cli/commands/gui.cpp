// wic-prof gui: starts the window, which is a separate program.
#include <memory>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/terminal/messages.h"
#include "cli/window/program.h"
#include "cli/window/request.h"

namespace wicprof::cli {

template <>
VerbBody declare<struct GuiVerb>(CLI::App& verb, const ProgramWords&) {
  const auto request = std::make_shared<GuiRequest>();
  add_gui_options(verb, *request);
  add_example(verb, "wic-prof gui halo.wicprof");
  return [request]() -> int { return fail(become_window(words_of(*request)).error()); };
}

}  // namespace wicprof::cli
