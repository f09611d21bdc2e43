// Finds events by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/view/event_ref.h"

namespace wicprof::gui {

/// Stays valid when the model changes; the model may lack the row.
struct SearchHit {
  EventRow row;
  TimeNs begin = 0, end = 0;
};

struct SearchHits {
  std::string text;
  std::vector<SearchHit> hits;  ///< ordered by time; at most kMaxHits
  std::uint64_t total = 0;
};
/// Bounds the list that the window shows; SearchHits::total counts all.
inline constexpr std::size_t kMaxHits = 10'000;

/// Events whose title contains `text`, ignoring case. Empty text finds nothing.
SearchHits search(const analyzer::TraceModel& model, std::string_view text);

/// The same match on the name in an event's row: the name of its site, or its own.
class NameFinder {
 public:
  explicit NameFinder(std::string_view text);
  bool matches(EventKind kind, std::string_view name) const;

 private:
  std::string wanted_;
};

}  // namespace wicprof::gui
