// References to single events of a trace, and their description for users.
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

/// An index into the model's list of this kind; valid for one model only.
struct EventRef {
  EventKind kind = EventKind::wait;
  std::uint32_t index = 0;
  bool operator==(const EventRef&) const = default;
};

/// The event's row in the trace file: stays valid when the model changes.
struct EventRow {
  EventKind kind = EventKind::wait;
  store::RowId row = 0;
  bool operator==(const EventRow&) const = default;
};

/// "wait", "kernel", ...
std::string_view kind_name(EventKind kind);

/// Whether the reference is within this model's lists.
bool is_in(const analyzer::TraceModel& model, EventRef ref);
EventRow row_of(const analyzer::TraceModel& model, EventRef ref);
std::optional<EventRef> find_row(const analyzer::TraceModel& model, EventRow row);

/// Begin and end; equal for events without length.
std::pair<TimeNs, TimeNs> time_of(const analyzer::TraceModel& model, EventRef ref);
/// A short title: the kernel's name, or "wait at hot.flag".
std::string title_of(const analyzer::TraceModel& model, EventRef ref);

struct Fact {
  std::string name, value;
  std::optional<EventRef> of{};  ///< the event that the value names
};
/// Who sent a signal: "a host thread", or "cuda:0 block 3, warp 0, SM 7".
std::string sender_of(const analyzer::TraceModel& model, const store::SignalRow& signal);
/// Everything that the trace records about the event.
std::vector<Fact> facts_of(const analyzer::TraceModel& model, EventRef ref);

}  // namespace wicprof::gui
