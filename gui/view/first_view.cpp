#include "gui/view/first_view.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace wicprof::gui {

namespace {

// Stragglers, such as one kernel at start-up, do not widen the view. Not calibrated.
constexpr double kShown = 0.98;
// Free space on both sides, as a part of the stretch. Not calibrated.
constexpr double kMargin = 0.03;
// A stretch that is longer than this part of the trace is not worth leaving anything out. Not calibrated.
constexpr double kMostOfIt = 0.75;
// Columns in which summaries are searched for the stretch.
constexpr std::uint32_t kColumns = 4'096;

/// An event, or the events of one column of the summaries.
struct Some {
  TimeNs begin = 0, end = 0;
  double events = 1;
};

/// What the summaries of a lane say about `kind`. A lane of a stream counts copies too, one of a thread its calls:
/// there, the time in the states of the kind stands for the number of events.
double amount(const Coarse::Cursor::Sums& sums, EventKind kind) {
  if (kind == EventKind::kernel) return sums.time[index_of(State::computing)];
  if (kind != EventKind::host_wait) return sums.begun;
  return sums.time[index_of(State::host_waiting)] + sums.time[index_of(State::polling)] +
         sums.time[index_of(State::parked)];
}

void add_columns(std::vector<Some>& list, const Coarse& coarse, const Timeline& timeline, EventKind kind) {
  Coarse::Cursor cursor(coarse, timeline.begin, timeline.end);
  Coarse::Cursor::Sums last = cursor.up_to(timeline.begin);
  const double width = static_cast<double>(timeline.end - timeline.begin) / kColumns;
  TimeNs from = timeline.begin;
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    const TimeNs to = timeline.begin + static_cast<TimeNs>(static_cast<double>(i + 1) * width);
    if (to <= from) continue;
    const Coarse::Cursor::Sums sums = cursor.up_to(to);
    const double events = amount(sums, kind) - amount(last, kind);
    if (events > 0) list.push_back({from, to, events});
    last = sums;
    from = to;
  }
}

void add_rows(std::vector<Some>& list, const Track& track, EventKind kind) {
  for (const SpanRow& row : track.rows) {
    for (const Span& span : row.spans()) {
      if (span.ref.kind == kind) list.push_back({span.begin, span.end, 1});
    }
  }
}

std::vector<Some> all_of(const Timeline& timeline, EventKind kind) {
  std::vector<Some> list;
  for (const Track& track : timeline.tracks) {
    if (track.folded) continue;
    if (track.density.coarse() != nullptr) {
      if (kind == EventKind::wait) add_columns(list, *track.density.coarse(), timeline, kind);
      continue;
    }
    const bool summarised =
        std::any_of(track.rows.begin(), track.rows.end(), [](const SpanRow& row) { return row.coarse() != nullptr; });
    if (!summarised) {
      add_rows(list, track, kind);
      continue;
    }
    const EventKind lane = kind == EventKind::host_wait ? EventKind::call : kind;
    for (const SpanRow& row : track.rows) {
      if (row.coarse() != nullptr && row.coarse_kind() == lane) add_columns(list, *row.coarse(), timeline, kind);
    }
  }
  return list;
}

/// The shortest stretch with kShown of all events; nothing without events.
std::optional<Stretch> shortest(std::vector<Some> list) {
  if (list.empty()) return std::nullopt;
  std::sort(list.begin(), list.end(), [](const Some& a, const Some& b) { return a.begin < b.begin; });
  double total = 0;
  for (const Some& one : list) total += one.events;
  struct Range {
    std::size_t first = 0, last = 0;  // without `last`
    TimeNs length = 0;
  };
  std::optional<Range> best;
  double inside = 0;
  for (std::size_t from = 0, to = 0; from < list.size(); ++from) {
    for (; to < list.size() && inside < kShown * total; ++to) inside += list[to].events;
    if (inside < kShown * total) break;
    const TimeNs length = list[to - 1].begin - list[from].begin;
    if (!best || length < best->length) best = Range{from, to, length};
    inside -= list[from].events;
  }
  if (!best) return std::nullopt;  // rounding: no stretch reaches the sum
  Stretch stretch{list[best->first].begin, list[best->first].end};
  for (std::size_t i = best->first; i < best->last; ++i) stretch.end = std::max(stretch.end, list[i].end);
  return stretch;
}

}  // namespace

Stretch first_view(const Timeline& timeline) {
  const Stretch all{timeline.begin, timeline.end};
  std::optional<Stretch> shown = shortest(all_of(timeline, EventKind::wait));
  if (const auto kernels = shortest(all_of(timeline, EventKind::kernel))) {
    shown = shown ? Stretch{std::min(shown->begin, kernels->begin), std::max(shown->end, kernels->end)} : *kernels;
  }
  if (!shown) shown = shortest(all_of(timeline, EventKind::host_wait));
  if (!shown) return all;
  const auto length = static_cast<double>(shown->end - shown->begin);
  if (length > kMostOfIt * static_cast<double>(all.end - all.begin)) return all;
  const auto margin = std::max<TimeNs>(static_cast<TimeNs>(kMargin * length), 1);
  return {std::max(all.begin, shown->begin - margin), std::min(all.end, shown->end + margin)};
}

}  // namespace wicprof::gui
