#include "gui/view/edge_walk.h"

#include <algorithm>

namespace wicprof::gui {

namespace {

bool same_warp(const store::WaitRow& wait, const store::SignalRow& signal) {
  return wait.device == signal.device && wait.block == signal.block && wait.warp == signal.warp;
}

EventRef ref(EventKind kind, std::size_t index) { return {kind, static_cast<std::uint32_t>(index)}; }

/// The wait that ended last, at or before `time`.
template <class List, class Match>
std::optional<std::size_t> last_ended(const List& list, TimeNs time, Match match, TimeNs List::value_type::*end) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].*end > time || !match(list[i])) continue;
    if (!best || list[i].*end > list[*best].*end) best = i;
  }
  return best;
}

std::optional<EventRef> before_signal(const analyzer::TraceModel& model, const store::SignalRow& signal) {
  if (signal.device == kHostDevice) {  // the trace does not record which thread
    const auto found = last_ended(
        model.host_waits, signal.at, [](const auto& w) { return !w.in_call(); }, &store::HostWaitRow::end);
    return found ? std::optional(ref(EventKind::host_wait, *found)) : std::nullopt;
  }
  const auto found = last_ended(
      model.waits, signal.at, [&](const auto& w) { return same_warp(w, signal); }, &store::WaitRow::resumed);
  return found ? std::optional(ref(EventKind::wait, *found)) : std::nullopt;
}

template <class Match>
std::optional<EventRef> first_signal(const analyzer::TraceModel& model, TimeNs from, Match match) {
  auto signal =
      std::partition_point(model.signals.begin(), model.signals.end(), [&](const auto& s) { return s.at < from; });
  signal = std::find_if(signal, model.signals.end(), match);
  if (signal == model.signals.end()) return std::nullopt;
  return ref(EventKind::signal, static_cast<std::size_t>(signal - model.signals.begin()));
}

}  // namespace

std::optional<EventRef> step_back(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from) {
  if (from.kind == EventKind::signal) return before_signal(model, model.signals[from.index]);
  if (from.kind != EventKind::wait && from.kind != EventKind::host_wait) return std::nullopt;
  const analyzer::WakeEdge* edge = timeline.edge_of(from);
  if (edge == nullptr) return std::nullopt;
  return ref(EventKind::signal, edge->signal);
}

std::optional<EventRef> step_on(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from) {
  if (from.kind == EventKind::signal) {
    const analyzer::WakeEdge* edge = timeline.edge_of(from);
    if (edge == nullptr) return std::nullopt;
    return ref(edge->host ? EventKind::host_wait : EventKind::wait, edge->wait);
  }
  if (from.kind == EventKind::wait) {
    const store::WaitRow& wait = model.waits[from.index];
    return first_signal(model, wait.resumed, [&](const auto& signal) { return same_warp(wait, signal); });
  }
  if (from.kind == EventKind::host_wait) {
    return first_signal(model, model.host_waits[from.index].end,
                        [](const auto& signal) { return signal.device == kHostDevice; });
  }
  return std::nullopt;
}

std::optional<EventRef> neighbour(const Timeline& timeline, EventRef from, int direction) {
  const auto place = timeline.place_of(from);
  if (!place) return std::nullopt;
  const std::vector<Span>& spans = timeline.tracks[place->track].rows[place->row].spans();
  const auto found = std::find_if(spans.begin(), spans.end(), [&](const Span& span) { return span.ref == from; });
  const auto at = found - spans.begin() + direction;
  if (at < 0 || at >= static_cast<std::ptrdiff_t>(spans.size())) return std::nullopt;
  return spans[static_cast<std::size_t>(at)].ref;
}

}  // namespace wicprof::gui
