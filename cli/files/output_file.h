// The destination of a verb's answer: stdout ("-") or a file. An existing file is refused unless `overwrite` is set.
#pragma once

#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

struct Output {
  std::string name = "-";  ///< a pattern (output_name.h)
  bool overwrite = false;
};

/// Expands the name and checks that it can be written, before any work on the text.
Result<Output> prepare_output(const Output& output);

/// Writes all of `text`, or leaves no file behind.
Result<> write_output(const Output& prepared, std::string_view text);

}  // namespace wicprof::cli
