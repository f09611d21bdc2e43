#include "cli/terminal/messages.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/terminal/exit_status.h"

namespace wicprof::cli {

namespace {
// One write a line, so that lines of the traced program and ours do not mix; a closed stderr is no error.
void say(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}
}  // namespace

void note(std::string_view text) { say(fmt::format("wic-prof: {}\n", text)); }
void warn(std::string_view text) { say(fmt::format("wic-prof: warning: {}\n", text)); }

int fail(const Error& error) {
  say(fmt::format("wic-prof: error: {}\n", error.message));
  return exit_status(error.kind);
}

}  // namespace wicprof::cli
