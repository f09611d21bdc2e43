#include "cli/terminal/screen.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/terminal/width.h"

namespace wicprof::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

reports::Screen screen_of(int fd) {
  reports::Screen screen;
  screen.width = text_width(fd);
  screen.colour = isatty(fd) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return screen;
}

reports::Screen screen_of_output(const std::string& output) { return screen_of(output == "-" ? STDOUT_FILENO : -1); }

}  // namespace wicprof::cli
