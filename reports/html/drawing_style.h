// How drawings look, by the classes of their elements: as style of the page, and as attributes of the elements, which
// stay where a web server's policy forbids styles.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/words/colours.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// Of heat maps: the classes "heat heat-1" to "heat heat-8".
inline constexpr std::size_t kHeatLevels = 8;

/// "svg .grid { stroke: var(--line); }" and so on.
std::string drawing_css();

/// The page with the same as attributes, in the light theme's colours, on each element of a drawing that has a class.
std::string with_attributes(std::string_view page);

/// A square of the colour of `css`, before its name in a legend.
std::string swatch(std::string_view css);

/// A legend's entries: the swatch and the name of each.
std::string legend_entries(const Looks& looks);
/// The definition of the pattern of polling that samples found, for the drawing that it is in. Ids are unique in a
/// page.
std::string hatched_pattern(std::string_view id);

/// A bar of which `share` is filled.
std::string meter(double share, std::string_view css);

}  // namespace wicprof::reports::html
