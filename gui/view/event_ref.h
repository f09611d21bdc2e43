// Names one event of a trace, and tells people about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "store/summaries/lanes.h"

namespace wicprof::gui {

using EventKind = store::RowKind;
inline constexpr std::size_t kEventKinds = store::kRowKinds;

/// An index into the model's list of that kind; holds for that model only.
struct EventRef {
  EventKind kind = EventKind::wait;
  std::uint32_t index = 0;
  bool operator==(const EventRef&) const = default;
};

/// What stays the same when the model grows: the row of the trace.
struct EventRow {
  EventKind kind = EventKind::wait;
  store::RowId row = 0;
  bool operator==(const EventRow&) const = default;
};

/// "wait", "kernel", ...
std::string_view kind_name(EventKind kind);

/// Whether the reference is one into this model at all.
bool is_in(const analyzer::TraceModel& model, EventRef ref);
EventRow row_of(const analyzer::TraceModel& model, EventRef ref);
std::optional<EventRef> find_row(const analyzer::TraceModel& model, EventRow row);

/// Begin and end; the same for what has no length.
std::pair<TimeNs, TimeNs> time_of(const analyzer::TraceModel& model, EventRef ref);
/// In a few words: the kernel's name, "wait at hot.flag".
std::string title_of(const analyzer::TraceModel& model, EventRef ref);

struct Fact {
  std::string name, value;
};
/// All that the trace says of it.
std::vector<Fact> facts_of(const analyzer::TraceModel& model, EventRef ref);

}  // namespace wicprof::gui
