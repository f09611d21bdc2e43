// Finds events by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/view/event_ref.h"

namespace wicprof::gui {

/// Stays the same when the model changes; the model need not have it.
struct SearchHit {
  EventRow row;
  TimeNs begin = 0, end = 0;
};

struct SearchHits {
  std::string text;
  std::vector<SearchHit> hits;  ///< in order of time; at most kMostHits
  std::uint64_t total = 0;
};
inline constexpr std::size_t kMostHits = 10'000;

/// Events whose title has `text` in it, whatever the case. No text finds nothing.
SearchHits search(const analyzer::TraceModel& model, std::string_view text);

/// The same question about the name alone that an event's row has, of the site or its own.
class NameFinder {
 public:
  explicit NameFinder(std::string_view text);
  bool wants(EventKind kind, std::string_view name) const;

 private:
  std::string wanted_;
};

}  // namespace wicprof::gui
