// The one place that decides how outputs are written: to stdout ("-"), into a stream (a terminal, /dev/null, a FIFO) in
// place, or to a file, which is replaced as a whole. An existing file is refused unless `overwrite` is set.
#pragma once

#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

struct Output {
  std::string name = "-";  ///< a pattern (output_name.h)
  bool overwrite = false;
  bool only_file = false;  ///< the name is wic-prof's own: what lies there instead of a file was put there by others
};

/// Expands the name and checks that it can be written, before any work on the text.
Result<Output> prepare_output(const Output& output);

/// Writes all of `text`, or leaves no file behind. What would control a terminal becomes U+FFFD.
Result<> write_output(const Output& prepared, std::string_view text);
/// The same for bytes that nobody may change.
Result<> write_bytes_to(const Output& prepared, std::string_view bytes);

/// Writes a verb's answer to stdout. Returns the exit status: an answer that did not arrive is a failure.
int print_answer(std::string_view text);

/// Opens a file for a program's output, which may not be a link. The name is taken as it is.
Result<int> open_log(const Output& log);

}  // namespace wicprof::cli
