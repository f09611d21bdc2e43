// The options of the window: the same for `wic-prof gui` and for the program wic-prof-gui that it starts.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace wicprof::cli {

struct GuiRequest {
  std::vector<std::string> files;
  std::string session, view, screenshot, script;
  std::string size;  ///< "1440x900"; empty = the default size
  int scale = 0;     ///< in percent; 0 = the display's own scale
  std::optional<bool> dark;
  bool facts = false;            ///< no window: analyze FILE for the window that asks, and write the result to stdout
  bool check_display = false;    ///< no window: only say whether one can be opened
  bool check_libraries = false;  ///< no window: end at once, which shows that the loader found all libraries
};

/// Declares the options of `request` on `app`. `request` must outlive the parsing.
void add_gui_options(CLI::App& app, GuiRequest& request);

/// The command-line words that make wic-prof-gui read the same request.
std::vector<std::string> words_of(const GuiRequest& request);

}  // namespace wicprof::cli
