// What the last change of how the program waits has done, in one sentence.
#pragma once

#include <string>

#include "gui/view/segments.h"

namespace wicprof::gui {

/// "Since park (auto) took effect, an iteration takes 780 us in place of 91.1 ms: 117 times shorter (115 to 118 times
/// shorter)." Says what is missing while a side has too few iterations. Empty without two segments.
std::string change_sentence(const BeforeAfter& values);

}  // namespace wicprof::gui
