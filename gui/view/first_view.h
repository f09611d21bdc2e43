// Where a window begins: the part of a trace in which the program waits and its kernels run.
#pragma once

#include "gui/view/timeline.h"

namespace wicprof::gui {

struct Stretch {
  TimeNs begin = 0, end = 0;
};

/// The shortest stretch with nearly all waits in kernels, and with nearly all kernels of the program; without either,
/// with nearly all waits of host threads. The whole trace where that is most of it, or where nothing waits. Works on
/// rows and on summaries.
Stretch first_view(const Timeline& timeline);

}  // namespace wicprof::gui
