// The layout of help texts: CLI11's, with lines that fit the terminal, and with the program to start in the usage lines
// of run, why and ci.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::cli {

class HelpFormat : public CLI::Formatter {
 public:
  /// `width`: the columns of the terminal.
  explicit HelpFormat(std::size_t width) : width_(width) { column_width(std::min(kNameWidth, width / 2)); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    const std::string& verb = app->get_name();
    if (!app->get_prefix_command() && verb != "ci" && verb != "why") return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + " -- APP ARGS...\n";
  }

  std::string make_description(const CLI::App* app) const override {
    const std::string text = app->get_description();
    return text.empty() ? text : analyzer::wrap(text, width_, 0) + "\n";
  }

  // CLI11 leaves two blank lines between groups.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  // CLI11 adds the least number of values here, which is nothing to read: "FILE(0x)".
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true) + (option->get_expected_max() > 1 ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }

  // CLI11 indents the lines of a description itself.
  std::string make_option_desc(const CLI::Option* option) const override {
    return analyzer::wrap(CLI::Formatter::make_option_desc(option), text_width(), 0);
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true), analyzer::wrap(sub->get_description(), text_width(), 0),
                             get_column_width());
    return out.str();
  }

 private:
  static constexpr std::size_t kNameWidth = 30;

  std::size_t text_width() const { return width_ - get_column_width(); }

  std::size_t width_;
};

}  // namespace wicprof::cli
