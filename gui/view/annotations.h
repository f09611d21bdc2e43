// Settings and annotations of one trace, stored in a file beside the trace, never inside it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::gui {

/// A moment that the user marked.
struct Bookmark {
  TimeNs at = 0;  ///< since the trace's begin
  std::string text;
};

struct Annotations {
  std::vector<Bookmark> marks;   ///< ordered by time
  std::set<std::string> pinned;  ///< keys of tracks
  bool dark = false;
};

/// "run.wicprof" -> "run.wicprof.gui.json".
std::string annotations_path(const std::string& trace);

/// A missing file gives empty annotations. Error: the file has other content, which stays unchanged.
Result<Annotations> load_annotations(const std::string& path);
/// Writes the file completely or not at all. Error: the folder is not writable.
Result<> save_annotations(const std::string& path, const Annotations& annotations);

}  // namespace wicprof::gui
