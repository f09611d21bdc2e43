// Finds events by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/view/event_ref.h"

namespace wicprof::gui {

struct SearchHits {
  std::string text;
  std::vector<EventRef> hits;  ///< in order of time; at most kMostHits
  std::uint64_t total = 0;
};
inline constexpr std::size_t kMostHits = 10'000;

/// Events whose title, kind, strategy or thread has `text` in it, whatever the case. No text finds nothing.
SearchHits search(const analyzer::TraceModel& model, std::string_view text);

}  // namespace wicprof::gui
