// A row of a track: things one after the other in time. However many there are, a picture of it has at most two entries
// a column, since what is narrower than a column is summed up.
#pragma once

#include <cstdint>
#include <memory>
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

/// A part of the picture: one span, or several that share a column.
struct DrawnSpan {
  TimeNs begin = 0, end = 0;
  State state = State::computing;  ///< of several: the one with the most time
  EventRef ref;                    ///< of several: the first; of summaries: its kind alone
  std::uint32_t count = 1;         ///< 0: as summaries tell it, which do not know single spans
  float fill = 1;                  ///< the part of [begin, end) that spans take
};

/// Any thread once it is finished.
class SpanRow {
 public:
  /// True when the span begins at or after the end of all others in the row.
  bool has_room(TimeNs begin) const { return spans_.empty() || begin >= spans_.back().end; }
  /// In order of time; the caller has asked has_room.
  void add(const Span& span) { spans_.push_back(span); }
  /// When all are in: what drawing needs to know of the whole.
  void finish();
  /// The whole from summaries (nullptr: nothing is known of it); what was added is all there is in [begin, end), and
  /// stands for that. `kind`: of most spans.
  void set_coarse(std::shared_ptr<const Coarse> coarse, EventKind kind, TimeNs begin, TimeNs end);

  /// [begin, end) in `columns` columns, in order of time. O(columns x log spans).
  std::vector<DrawnSpan> draw(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  /// The span at a time, else nullptr. One without length is found within `near` of it.
  const Span* at(TimeNs time, TimeNs near = 0) const;
  /// Time spent in a state in [begin, end).
  TimeNs time_in(State state, TimeNs begin, TimeNs end) const;
  /// How many spans reach into [begin, end).
  std::size_t count_in(TimeNs begin, TimeNs end) const;

  const std::vector<Span>& spans() const { return spans_; }
  std::size_t events() const { return coarse_ ? static_cast<std::size_t>(coarse_->events()) : spans_.size(); }

 private:
  std::size_t first_ending_after(TimeNs time) const;
  std::size_t first_beginning_at(TimeNs time, std::size_t from) const;

  std::vector<Span> spans_;
  struct Sums {
    State state;
    std::vector<TimeNs> before;  // time in the state of all spans before each, and of all at the end
  };
  std::vector<Sums> sums_;  // only of states that occur
  std::vector<DrawnSpan> draw_coarse(TimeNs begin, TimeNs end, std::uint32_t columns) const;
  std::shared_ptr<const Coarse> coarse_;
  EventKind kind_ = EventKind::wait;
  bool part_ = false;  // spans are not all
  TimeNs fine_begin_ = 0, fine_end_ = 0;
  bool fine_in(TimeNs begin, TimeNs end) const { return !part_ || (begin >= fine_begin_ && end <= fine_end_); }
};

/// Puts spans (in order of their begin) into as few rows as first fit needs; what lies within another span comes below
/// it.
std::vector<SpanRow> pack(std::vector<Span> spans);

}  // namespace wicprof::gui
