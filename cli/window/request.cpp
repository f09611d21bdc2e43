#include "cli/window/request.h"

namespace wicprof::cli {

void add_gui_options(CLI::App& app, GuiRequest& request) {
  app.add_option("FILE", request.files, "a trace, the traces of one job's ranks, or two traces to compare")
      ->expected(0, CLI::detail::expected_max_vector_size);
  app.add_option("--session", request.session, "a running session, with its live timeline and the toggle")
      ->type_name("NAME");
  // The names are in the text, which wraps at the terminal's width.
  app.add_option("--view", request.view,
                 "the view to start with: timeline, sites, parties, findings, stalls, figures, toggle, compare, live, "
                 "kernels or ranks")
      ->type_name("NAME")
      ->check(CLI::Validator(CLI::IsMember({"timeline", "sites", "parties", "findings", "stalls", "figures", "toggle",
                                            "compare", "live", "kernels", "ranks"}))
                  .description(""));
  app.add_option("--screenshot", request.screenshot, "save the view as a PNG and exit")->type_name("PNG");
  app.add_option("--size", request.size, "the window's size at a scale of 100 %, such as 1440x900")->type_name("WxH");
  app.add_option("--scale", request.scale, "the scale of text and everything else, in percent; default: the display's")
      ->type_name("PERCENT")
      ->check(CLI::Range(50, 400));
  app.add_flag_callback(
      "--dark", [&request] { request.dark = true; }, "use the dark theme; default: the theme used last");
  app.add_flag_callback(
      "--light", [&request] { request.dark = false; }, "use the light theme");
  app.add_option("--drive", request.script, "follow a script instead of the user, for tests")->type_name("FILE");
  // Internal: the window starts itself with --facts to analyze a large trace in another process, `wic-prof run --gui`
  // uses --check-display before it starts the program, and `wic-prof gui` uses --check-libraries.
  app.add_flag("--facts", request.facts)->group("");
  app.add_flag("--check-display", request.check_display)->group("");
  app.add_flag("--check-libraries", request.check_libraries)->group("");
}

std::vector<std::string> words_of(const GuiRequest& request) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--session", request.session);
  add("--view", request.view);
  add("--screenshot", request.screenshot);
  add("--size", request.size);
  add("--scale", request.scale == 0 ? "" : std::to_string(request.scale));
  add("--drive", request.script);
  if (request.dark) words.push_back(*request.dark ? "--dark" : "--light");
  if (request.facts) words.push_back("--facts");
  if (request.check_display) words.push_back("--check-display");
  words.push_back("--");  // a file's name may begin with a dash
  words.insert(words.end(), request.files.begin(), request.files.end());
  return words;
}

}  // namespace wicprof::cli
