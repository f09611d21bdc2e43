// wic-prof gui: the window.
#include <memory>

#include "cli/commands/list.h"
#include "cli/commands/options.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/open_gui.h"

namespace wicprof::cli {

VerbBody declare_gui(CLI::App& verb, const ProgramWords&) {
  const auto request = std::make_shared<GuiRequest>();
  verb.add_option("FILE", request->files, "a trace, or two to compare")->expected(0, 2);
  verb.add_option("--session", request->session, "a running session: its timeline as it comes, and the toggle")
      ->type_name("NAME");
  verb.add_option("--view", request->view, "what shows first")
      ->type_name("NAME")
      ->check(CLI::IsMember({"timeline", "sites", "findings", "stalls", "figures", "compare", "live"}));
  verb.add_option("--screenshot", request->screenshot, "draw the view into a PNG and end")->type_name("PNG");
  verb.add_option("--size", request->size, "of the window, at 100 %, like 1440x900")->type_name("WxH");
  verb.add_option("--scale", request->scale, "of text and all else, in percent; as the display asks for unless named")
      ->type_name("PERCENT")
      ->check(CLI::Range(50, 400));
  verb.add_flag_callback(
      "--dark", [request] { request->dark = true; }, "on a dark page; as it was last time unless named");
  verb.add_flag_callback(
      "--light", [request] { request->dark = false; }, "on a light page");
  verb.add_option("--drive", request->script, "do what a script says in place of the user; gui/drive.h has the steps")
      ->type_name("FILE");
  // Not for people: what a window starts to have a large trace analysed beside it.
  verb.add_flag("--facts", request->facts)->group("");
  add_example(verb, "wic-prof gui halo.wicprof");
  return [request]() -> int {
    const Result<> shown = open_gui(*request);
    return shown ? kDone : fail(shown.error());
  };
}

}  // namespace wicprof::cli
