// A track of the timeline: a line of the picture with a name, rows of spans or a heat strip, or both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/view/density.h"
#include "gui/view/span_row.h"

namespace wicprof::gui {

struct Track {
  std::string key;    ///< stays the same from one picture of a program to the next: "sm/0/3"
  std::string group;  ///< tracks of a kind, in the order of tracks/list.h
  std::string name;
  std::string note;           ///< more about it, in one line
  Density density;            ///< empty where there is nothing to sum up
  std::vector<SpanRow> rows;  ///< shown always, or when a strip is opened
  bool has_strip() const { return !density.empty(); }
};

}  // namespace wicprof::gui
