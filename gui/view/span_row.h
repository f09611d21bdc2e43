// A row of a track: spans that follow each other in time. Drawing merges spans narrower than a column, so a picture has
// at most two entries per column, however many spans there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gui/view/coarse.h"
#include "gui/view/colours.h"
#include "gui/view/event_ref.h"

namespace wicprof::gui {

struct Span {
  TimeNs begin = 0, end = 0;
  EventRef ref;
  State state = State::computing;
};

/// One drawn rectangle: a span, or several spans that share a column.
struct DrawnSpan {
  TimeNs begin = 0, end = 0;
  State state = State::computing;  ///< of several spans: the state with the most time
  EventRef ref;                    ///< of several spans: the first; from summaries: only the kind is valid
  std::uint32_t count = 1;         ///< 0: from summaries, which hold no single spans
  float fill = 1;                  ///< the part of [begin, end) that spans cover
  float events = 1;                ///< events that begin in it; from summaries an estimate
  float polling = 0;               ///< the part of the spans' time in which kernels poll, by their samples
};

/// Immutable after finish(); then any thread.
class SpanRow {
 public:
  /// Whether a span that begins at this time fits behind all others.
  bool can_add(TimeNs begin) const { return spans_.empty() || begin >= spans_.back().end; }
  /// In order of time; can_add() must hold.
  void add(const Span& span) { spans_.push_back(span); }
  /// Call after the last add(): prepares the sums for drawing.
  void finish();
  /// Takes the rest from summaries (nullptr: the rest is unknown). The added spans are complete in [begin, end) and
  /// replace the summaries there. `kind`: the kind of most spans.
  void set_coarse(std::shared_ptr<const Coarse> coarse, EventKind kind, TimeNs begin, TimeNs end);

  /// The part of each span's time in which its kernel polls, in order of spans(). Call after finish().
  void set_polling(const std::vector<double>& shares);

  /// [begin, end) in `columns` columns, in order of time. O(columns x log spans).
  std::vector<DrawnSpan> draw(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  /// The span at this time, else nullptr. Spans without length match within `near`.
  const Span* at(TimeNs time, TimeNs near = 0) const;
  /// Time spent in a state in [begin, end).
  TimeNs time_in(State state, TimeNs begin, TimeNs end) const;
  /// The part of the time in [begin, end) in which kernels poll, by their samples, in ns.
  double polling_in(TimeNs begin, TimeNs end) const;
  /// The spans that overlap [begin, end), as far as their rows are known.
  std::span<const Span> overlapping(TimeNs begin, TimeNs end) const;
  /// The number of spans that overlap [begin, end).
  std::size_t count_in(TimeNs begin, TimeNs end) const;

  const std::vector<Span>& spans() const { return spans_; }
  /// The summaries; nullptr without.
  const Coarse* coarse() const { return coarse_.get(); }
  /// The kind of most events in the summaries.
  EventKind coarse_kind() const { return kind_; }
  std::size_t events() const { return coarse_ ? static_cast<std::size_t>(coarse_->events()) : spans_.size(); }

 private:
  std::size_t first_ending_after(TimeNs time) const;
  std::size_t first_beginning_at(TimeNs time, std::size_t from) const;

  std::vector<Span> spans_;
  struct Sums {
    State state;
    std::vector<TimeNs> before;  // prefix sums: time in the state of all spans before i
  };
  std::vector<Sums> sums_;                // only of states that occur
  std::vector<double> polling_before_{};  // prefix sums: time in which the kernels before i poll; empty: none does
  float polling_part(std::size_t first, std::size_t next) const;
  std::vector<DrawnSpan> draw_coarse(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  std::shared_ptr<const Coarse> coarse_;
  EventKind kind_ = EventKind::wait;
  bool part_ = false;  // the spans do not cover the whole row
  TimeNs fine_begin_ = 0, fine_end_ = 0;
  bool fine_in(TimeNs begin, TimeNs end) const { return !part_ || (begin >= fine_begin_ && end <= fine_end_); }
};

/// Events without length, such as signals, are drawn as marks while they are apart and as a density where they are not:
/// whether those of a row are a density, `columns` being the width of its picture in marks.
bool is_density(const std::vector<DrawnSpan>& drawn, std::uint32_t columns);

/// Distributes spans over rows by first fit, in order of their begin; a span inside another one gets a lower row.
std::vector<SpanRow> pack(std::vector<Span> spans);

}  // namespace wicprof::gui
