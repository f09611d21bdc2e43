// A track of the timeline: a name with rows of spans, a density strip, or both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/view/density.h"
#include "gui/view/span_row.h"

namespace wicprof::gui {

struct Track {
  std::string key;    ///< identifies the track across models: "sm/0/3"
  std::string group;  ///< heading of its kind
  std::string name;
  std::string note;           ///< one line of detail
  Density density;            ///< empty = no strip
  std::vector<SpanRow> rows;  ///< always visible, or below an opened strip
  bool has_strip() const { return !density.empty(); }
};

}  // namespace wicprof::gui
