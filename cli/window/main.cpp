// wic-prof-gui: the window. People start it by `wic-prof gui`; its options are the same.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "cli/terminal/exit_status.h"
#include "cli/terminal/help_format.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "cli/terminal/usage.h"
#include "cli/terminal/width.h"
#include "cli/window/open.h"
#include "cli/window/request.h"

namespace wicprof::cli {

namespace {

int window_main(int argc, char** argv) {
  CLI::App app("Browse traces, live or recorded, and toggle the mode.", "wic-prof-gui");
  app.set_version_flag("-V,--version", "wic-prof-gui " WICPROF_VERSION);
  app.footer("Example:\n  wic-prof gui halo.wicprof");
  app.formatter(std::make_shared<HelpFormat>(help_width(STDOUT_FILENO)));
  GuiRequest request;
  add_gui_options(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(app, error));
  }
  const Result<> shown = open_gui(request);
  return shown ? kDone : fail(shown.error());
}

}  // namespace

}  // namespace wicprof::cli

int main(int argc, char** argv) try {
  wicprof::cli::prepare_process();
  wicprof::cli::spare_home_of_another();
  return wicprof::cli::window_main(argc, argv);
} catch (const std::bad_alloc&) {
  return wicprof::cli::fail_without_memory("or show a smaller trace");
} catch (const std::exception& e) {
  return wicprof::cli::fail(wicprof::unavailable(std::string("unexpected failure: ") + e.what()));
}
