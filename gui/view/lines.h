// Text in lines, for widths in pixels. ImGui's own wrapping breaks numbers at their point and names at each dot.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wicprof::gui {

/// The lines of `text`, which break at spaces; a unit stays with its number. A word that is wider than `width` has a
/// line of its own. `measure`: a text's width.
std::vector<std::string> lines_of(std::string_view text, float width,
                                  const std::function<float(std::string_view text)>& measure);

}  // namespace wicprof::gui
