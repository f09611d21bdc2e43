#include "cli/window/request.h"

namespace wicprof::cli {

void add_gui_options(CLI::App& app, GuiRequest& request) {
  app.add_option("FILE", request.files, "a trace, or two to compare")->expected(0, 2);
  app.add_option("--session", request.session, "a running session: its timeline as it comes, and the toggle")
      ->type_name("NAME");
  app.add_option("--view", request.view, "what shows first")
      ->type_name("NAME")
      ->check(CLI::IsMember({"timeline", "sites", "findings", "stalls", "figures", "compare", "live"}));
  app.add_option("--screenshot", request.screenshot, "draw the view into a PNG and end")->type_name("PNG");
  app.add_option("--size", request.size, "of the window, at 100 %, like 1440x900")->type_name("WxH");
  app.add_option("--scale", request.scale, "of text and all else, in percent; as the display asks for unless named")
      ->type_name("PERCENT")
      ->check(CLI::Range(50, 400));
  app.add_flag_callback(
      "--dark", [&request] { request.dark = true; }, "on a dark page; as it was last time unless named");
  app.add_flag_callback(
      "--light", [&request] { request.dark = false; }, "on a light page");
  app.add_option("--drive", request.script, "do what a script says in place of the user; gui/drive.h has the steps")
      ->type_name("FILE");
  // Not for people: the window starts itself with the first to have a large trace analyzed in another process,
  // `wic-prof run --gui` asks with the second before it starts the program, and `wic-prof gui` with the third.
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
