// A track of the timeline: a name with rows of spans, a density strip, or both; or readings over time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/view/density.h"
#include "gui/view/span_row.h"

namespace wicprof::gui {

/// The group of what is rarely looked at: the runtime's own threads and kernels, threads that only ask the driver for
/// values, and streams used once. It comes last,
/// and is closed until the user opens it.
inline constexpr const char* kFoldedGroup = "Runtime's own, streams used once";

struct Track {
  std::string key;    ///< identifies the track across models: "sm/0/3"
  std::string group;  ///< heading of its kind
  std::string name;
  std::string note;           ///< one line of detail
  Density density;            ///< empty = no strip
  std::vector<SpanRow> rows;  ///< always visible, or below an opened strip
  Density readings;           ///< of a number in one state, such as watts, in place of a strip and rows
  std::string_view unit;      ///< of these
  bool folded = false;        ///< shown in kFoldedGroup, at the end
  bool has_strip() const { return !density.empty(); }
  bool has_readings() const { return !readings.empty(); }
};

}  // namespace wicprof::gui
