#include "cli/terminal/messages.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <string>

#include "cli/terminal/exit_status.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/write_text.h"
#include "protocol/limit_words.h"
#include "protocol/plain_text.h"

namespace wicprof::cli {

namespace {

// A reader of stderr that stops reading delays the supervision of a program once, and at most this long.
constexpr TimeNs kTimeout = 2 * kSecond;
std::atomic<bool> reader_is_slow{false};

// Names in a message could have line breaks, and look like further messages.
std::string in_one_line(std::string_view text) {
  std::string line = plain_text(text);
  for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
  return line;
}

// One write per line, so that lines of the traced program do not mix with these.
void write_line(std::string_view label, std::string_view text, TimeNs timeout) noexcept try {
  std::string line("wic-prof: ");
  line.append(label).append(in_one_line(text)).append("\n");
  const int error = write_text(STDERR_FILENO, line, reader_is_slow && timeout >= 0 ? 0 : timeout);
  reader_is_slow = error == EAGAIN;
} catch (const std::exception&) {  // no memory for the line
  for (const std::string_view part : {std::string_view("wic-prof: "), label, text, std::string_view("\n")}) {
    write_text(STDERR_FILENO, is_plain(part) ? part : "...", 0);
  }
}

}  // namespace

void note(std::string_view text) noexcept { write_line("", text, kTimeout); }
void warn(std::string_view text) noexcept { write_line("warning: ", text, kTimeout); }
void show(std::string_view text) noexcept try {
  write_text(STDERR_FILENO, plain_text(text, screen_of(STDERR_FILENO).colour ? Colours::ours : Colours::none));
} catch (const std::exception&) {  // no memory for the text
}
void show_progress(std::string_view text) noexcept { write_text(STDERR_FILENO, text, 0); }

int fail(const Error& error) noexcept {
  write_line("error: ", error.message, kForever);
  return exit_status(error.kind);
}

int fail_without_memory(const char* otherwise) noexcept {
  try {
    return fail(unavailable("out of memory; " + memory_cure() + ", " + otherwise));
  } catch (const std::exception&) {  // not even for the message
    write_text(STDERR_FILENO, "wic-prof: error: out of memory\n");
    return exit_status(ErrorKind::unavailable);
  }
}

}  // namespace wicprof::cli
