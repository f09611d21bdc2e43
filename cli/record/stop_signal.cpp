#include "cli/record/stop_signal.h"

#include <fmt/format.h>
#include <signal.h>

#include <charconv>
#include <string_view>

namespace wicprof::cli {

namespace {

struct Name {
  const char* name;
  int number;
};
constexpr Name kNames[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},
                           {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
                           {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"ABRT", SIGABRT}};

// Signals that stop or continue a program, or that programs ignore by default, do not end it.
bool can_end(int number) {
  for (const int harmless : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGWINCH, SIGURG}) {
    if (number == harmless) return false;
  }
  return number > 0 && number <= SIGRTMAX;
}

}  // namespace

Result<int> parse_stop_signal(const std::string& text) {
  std::string_view word = text;
  if (word == "none") return kNoSignal;
  if (word.starts_with("SIG") || word.starts_with("sig")) word.remove_prefix(3);
  std::string upper;
  for (const char c : word) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const Name& known : kNames) {
    if (upper == known.name) return known.number;
  }
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && can_end(number)) return number;
  std::string names;
  for (const Name& known : kNames) names += fmt::format("{}, ", known.name);
  return bad_input(
      fmt::format("--kill takes none, a signal that ends programs ({}or a number), not '{}'", names, text));
}

}  // namespace wicprof::cli
