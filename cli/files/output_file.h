// Where a verb's answer goes: stdout ("-") or a file, which is refused when it exists unless asked for.
#pragma once

#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

struct Output {
  std::string name = "-";  ///< a pattern (output_name.h)
  bool overwrite = false;
};

/// Settles the name and looks whether it can be written, before work is put into the text.
Result<Output> prepare_output(const Output& output);

/// Writes all of `text`; a file that could not be written whole is removed again.
Result<> write_output(const Output& prepared, std::string_view text);

}  // namespace wicprof::cli
