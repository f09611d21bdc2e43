// Finds events by name, kind and length.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/view/event_ref.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// Stays valid when the model changes; the model may lack the row.
struct SearchHit {
  EventRow row;
  TimeNs begin = 0, end = 0;
};

struct SearchHits {
  std::string text;             ///< as typed
  std::vector<SearchHit> hits;  ///< those of exactly this name first, then the others; each ordered by time
  std::uint64_t total = 0;
  std::size_t exact = 0;  ///< how many of `hits` have exactly this name
};
/// Bounds the list that the window shows; SearchHits::total counts all.
inline constexpr std::size_t kMaxHits = 10'000;

/// What to look for: "reduce kind:kernel >1ms <20ms".
struct SearchQuery {
  std::string name;               ///< part of a title, ignoring case
  std::optional<EventKind> kind;  ///< nothing: each kind
  TimeNs longer_than = -1, shorter_than = std::numeric_limits<TimeNs>::max();
  bool empty() const { return name.empty() && !kind && !has_length(); }
  bool has_length() const { return longer_than >= 0 || shorter_than < std::numeric_limits<TimeNs>::max(); }
};
/// Error: a word with "kind:", ">" or "<" that means no kind or no length.
Result<SearchQuery> read_query(std::string_view typed);
/// The word after "kind:", such as "kernel"; "" for kinds that are not searched.
std::string_view kind_word(EventKind kind);
/// `typed` with another kind; nothing: with none.
std::string with_kind(std::string_view typed, std::optional<EventKind> kind);

/// An empty query, or one that cannot be read, finds nothing.
SearchHits search(const analyzer::TraceModel& model, std::string_view typed);

/// The same match on the name in an event's row: the name of its site, or its own.
class NameFinder {
 public:
  explicit NameFinder(const SearchQuery& query);
  enum class Match { none, part, exact };
  Match match(EventKind kind, std::string_view name) const;
  Match match_title(EventKind kind, std::string_view title) const;

 private:
  std::string wanted_;
  std::optional<EventKind> kind_;
};

}  // namespace wicprof::gui
