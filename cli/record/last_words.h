// The last line that a program wrote to stderr, where that can be had without coming between the program and its
// stderr: a pipe in between would make isatty() false, and with it change what the program prints.
#pragma once

#include <string>

namespace wicprof::cli {

class LastWords {
 public:
  /// Remembers where stderr ends now. Construct before the program starts.
  LastWords() noexcept;

  /// Remembers where stderr ends now: what comes later is not the program's. Call when the program has ended.
  void program_ended() noexcept;

  /// The last line that came to stderr while the program ran and is not wic-prof's own; empty if stderr is a terminal
  /// or a pipe, which cannot be read, or if there is no such line. A line of the program's stdout counts if it goes to
  /// the same file.
  std::string line() const;

  /// Whether the program's messages went to a terminal, so that the user sees them.
  static bool on_terminal() noexcept;

 private:
  long long begin_ = -1, end_ = -1;  // below 0: stderr is no regular file
};

}  // namespace wicprof::cli
