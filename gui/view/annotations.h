// Settings and annotations of one trace, kept in a file beside it and never in it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::gui {

/// A place that the user marked; times count from the trace's beginning.
struct Bookmark {
  TimeNs at = 0;
  std::string text;
};

struct Annotations {
  std::vector<Bookmark> marks;   ///< in order of time
  std::set<std::string> pinned;  ///< tracks by key
  bool dark = false;
};

/// "run.wicprof" -> "run.wicprof.gui.json".
std::string annotations_path(const std::string& trace);

/// No file gives empty ones. Error: it is there and is no such file; it is then left alone.
Result<Annotations> load_annotations(const std::string& path);
/// Whole or not at all. Error: the folder cannot be written to.
Result<> save_annotations(const std::string& path, const Annotations& annotations);

}  // namespace wicprof::gui
