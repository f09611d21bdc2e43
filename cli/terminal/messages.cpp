#include "cli/terminal/messages.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/terminal/exit_status.h"

namespace wicprof::cli {

namespace {
// One write per line, so that lines of the traced program do not mix with these. A closed stderr is not an error.
void write_line(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}
}  // namespace

void note(std::string_view text) { write_line(fmt::format("wic-prof: {}\n", text)); }
void warn(std::string_view text) { write_line(fmt::format("wic-prof: warning: {}\n", text)); }

int fail(const Error& error) {
  write_line(fmt::format("wic-prof: error: {}\n", error.message));
  return exit_status(error.kind);
}

}  // namespace wicprof::cli
