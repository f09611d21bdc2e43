// The screen that an answer is written to: its width and whether it shows colours.
#pragma once

#include <string>

#include "reports/text/screen.h"

namespace wicprof::cli {

/// Width: as text_width() says. Colours: only on a terminal, unless NO_COLOR is set or TERM is dumb.
reports::Screen screen_of(int fd);

/// The screen of an answer whose file is `output` ("-" is stdout): a file has no colours.
reports::Screen screen_of_output(const std::string& output);

}  // namespace wicprof::cli
