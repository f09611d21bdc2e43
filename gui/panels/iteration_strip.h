// Draws iteration times with the iteration as the axis, phases coloured by mode.
#pragma once

#include <optional>

#include "gui/view/iteration_strip.h"
#include "gui/window/ui.h"

namespace wicprof::gui {

/// Draws into `where`, which should be 90 pixels high or more. `chosen`: marks the change between this phase and the
/// next. Returns the change that the user clicked, as the index of the phase before it. Items are called
/// "strip.change.N".
std::optional<std::size_t> draw_iteration_strip(const Ui& ui, const IterationStrip& strip, Rect where,
                                                std::optional<std::size_t> chosen);

}  // namespace wicprof::gui
