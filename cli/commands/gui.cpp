// wic-prof gui: starts the window, which is a separate program.
#include <memory>
#include <string>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/terminal/messages.h"
#include "cli/window/program.h"
#include "cli/window/request.h"
#include "store/read/packed_trace.h"
#include "store/read/reader.h"

namespace wicprof::cli {

template <>
VerbBody declare<struct GuiVerb>(CLI::App& verb, const ProgramWords&) {
  const auto request = std::make_shared<GuiRequest>();
  add_gui_options(verb, *request);
  add_example(verb, "wic-prof gui halo.wicprof");
  return [request]() -> int {
    for (const std::string& file : request->files) {
      // A digest is packed, and the window needs more than it has.
      if (!store::is_packed(file)) continue;
      if (const Result<store::Reader> reader = store::Reader::open(file); !reader) return fail(reader.error());
    }
    return fail(become_window(words_of(*request)).error());
  };
}

}  // namespace wicprof::cli
