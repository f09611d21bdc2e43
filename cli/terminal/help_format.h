// The layout of help texts: CLI11's, with lines that fit a terminal, and with the program to start in the usage lines
// of run and ci.
#pragma once

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

namespace wicprof::cli {

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(kNameWidth); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!app->get_prefix_command() && app->get_name() != "ci") return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + " -- APP ARGS...\n";
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::istringstream words(CLI::Formatter::make_option_desc(option));
    std::string text;
    std::size_t line = 0;  // length of the current line
    for (std::string word; words >> word;) {
      const bool breaks = line > 0 && line + 1 + word.size() > kTextWidth;
      if (line > 0) text += breaks ? '\n' : ' ';
      line = (breaks || line == 0 ? 0 : line + 1) + word.size();
      text += word;
    }
    return text;
  }

 private:
  static constexpr std::size_t kNameWidth = 34;
  static constexpr std::size_t kTextWidth = 66;
};

}  // namespace wicprof::cli
