#include "gui/view/span_row.h"

#include <algorithm>

namespace wicprof::gui {

void SpanRow::finish() {
  sums_.clear();
  spans_.shrink_to_fit();
  bool occurs[kStates] = {};
  for (const Span& span : spans_) occurs[index_of(span.state)] = true;
  for (std::size_t i = 0; i < kStates; ++i) {
    if (!occurs[i]) continue;
    Sums sums{static_cast<State>(i), {}};
    sums.before.reserve(spans_.size() + 1);
    TimeNs sum = 0;
    for (const Span& span : spans_) {
      sums.before.push_back(sum);
      if (index_of(span.state) == i) sum += span.end - span.begin;
    }
    sums.before.push_back(sum);
    sums_.push_back(std::move(sums));
  }
}

void SpanRow::set_polling(const std::vector<double>& shares) {
  polling_before_.assign(1, 0);
  for (std::size_t i = 0; i < spans_.size(); ++i)
    polling_before_.push_back(polling_before_.back() +
                              shares[i] * static_cast<double>(spans_[i].end - spans_[i].begin));
}

float SpanRow::polling_part(std::size_t first, std::size_t next) const {
  if (polling_before_.empty()) return 0;
  TimeNs all = 0;
  for (const Sums& sums : sums_) all += sums.before[next] - sums.before[first];
  return all > 0 ? static_cast<float>((polling_before_[next] - polling_before_[first]) / static_cast<double>(all)) : 0;
}

std::size_t SpanRow::first_ending_after(TimeNs time) const {
  const auto found = std::partition_point(spans_.begin(), spans_.end(), [&](const Span& s) {
    return s.end <= time && !(s.begin == s.end && s.begin == time);
  });
  return static_cast<std::size_t>(found - spans_.begin());
}

std::size_t SpanRow::first_beginning_at(TimeNs time, std::size_t from) const {
  // The result is usually near: doubling steps, then bisection between the last two.
  std::size_t step = 1, low = from;
  while (low + step < spans_.size() && spans_[low + step].begin < time) {
    low += step;
    step *= 2;
  }
  const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(spans_.size(), low + step + 1));
  const auto found = std::partition_point(spans_.begin() + static_cast<std::ptrdiff_t>(low), end,
                                          [&](const Span& s) { return s.begin < time; });
  return static_cast<std::size_t>(found - spans_.begin());
}

std::vector<DrawnSpan> SpanRow::draw(TimeNs begin, TimeNs end, std::uint32_t columns) const {
  std::vector<DrawnSpan> drawn;
  if (end <= begin || columns == 0) return drawn;
  if (!fine_in(begin, end)) return draw_coarse(begin, end, columns);
  const double width = static_cast<double>(end - begin) / columns;
  std::size_t i = first_ending_after(begin);
  while (i < spans_.size() && spans_[i].begin < end) {
    const Span& span = spans_[i];
    if (static_cast<double>(span.end - span.begin) >= width) {
      drawn.push_back({span.begin, span.end, span.state, span.ref, 1, 1, 1, polling_part(i, i + 1)});
      ++i;
      continue;
    }
    const auto column = static_cast<TimeNs>(static_cast<double>(std::max(span.begin, begin) - begin) / width);
    const TimeNs from = begin + static_cast<TimeNs>(static_cast<double>(column) * width);
    const TimeNs to = std::max(begin + static_cast<TimeNs>(static_cast<double>(column + 1) * width), span.begin + 1);
    // The last span may be longer than a column; it is drawn separately.
    std::size_t next = first_beginning_at(to, i);
    if (next > i + 1 && static_cast<double>(spans_[next - 1].end - spans_[next - 1].begin) >= width) --next;
    DrawnSpan sum{from, to, span.state, span.ref, static_cast<std::uint32_t>(next - i), 0};
    TimeNs most = -1, total = 0;
    for (const Sums& sums : sums_) {
      const TimeNs time = sums.before[next] - sums.before[i];
      total += time;
      if (time > most && (time > 0 || sums.state == span.state)) {
        most = time;
        sum.state = sums.state;
      }
    }
    sum.events = static_cast<float>(next - i);
    sum.polling = polling_part(i, next);
    sum.fill = static_cast<float>(std::min(1.0, static_cast<double>(total) / static_cast<double>(to - from)));
    drawn.push_back(sum);
    i = next;
  }
  return drawn;
}

void SpanRow::set_coarse(std::shared_ptr<const Coarse> coarse, EventKind kind, TimeNs begin, TimeNs end) {
  coarse_ = std::move(coarse);
  kind_ = kind;
  part_ = true;
  fine_begin_ = begin;
  fine_end_ = end;
}

std::vector<DrawnSpan> SpanRow::draw_coarse(TimeNs begin, TimeNs end, std::uint32_t columns) const {
  std::vector<DrawnSpan> drawn;
  if (!coarse_) return drawn;
  const double width = static_cast<double>(end - begin) / columns;
  Coarse::Cursor cursor(*coarse_, begin, end);
  Coarse::Cursor::Sums last = cursor.up_to(begin);
  TimeNs from = begin;
  for (std::uint32_t i = 0; i < columns; ++i) {
    const TimeNs to = begin + static_cast<TimeNs>(static_cast<double>(i + 1) * width);
    if (to <= from) continue;
    const Coarse::Cursor::Sums sums = cursor.up_to(to);
    DrawnSpan one{from, to, kind_ == EventKind::nvtx ? State::range : State::computing, {kind_, 0}, 0, 0};
    double most = 0, total = 0;
    for (const std::uint8_t s : coarse_->states()) {
      const double time = sums.time[s] - last.time[s];
      total += time;
      if (time > most) {
        most = time;
        one.state = static_cast<State>(s);
      }
    }
    one.fill = static_cast<float>(std::min(1.0, total / static_cast<double>(to - from)));
    one.events = static_cast<float>(sums.begun - last.begun);
    const bool begun = one.events > 0;
    if (kind_ == EventKind::signal) one.state = State::signalling;
    last = sums;
    from = to;
    if (total <= 0 && !begun) continue;
    // Merges the columns of a span that fills several of them.
    constexpr float kFull = 0.9999f;  // 1 minus rounding
    if (!drawn.empty() && !begun && one.fill > kFull && drawn.back().fill > kFull && drawn.back().state == one.state &&
        drawn.back().end == one.begin) {
      drawn.back().end = one.end;
      drawn.back().events += one.events;
      continue;
    }
    drawn.push_back(one);
  }
  return drawn;
}

const Span* SpanRow::at(TimeNs time, TimeNs near) const {
  const std::size_t i = first_ending_after(time - near);
  if (i == spans_.size() || spans_[i].begin > time + near) return nullptr;
  // Prefers the span that contains the time, then the nearest; looks at 64 spans at most.
  const Span* best = &spans_[i];
  for (std::size_t j = i; j < spans_.size() && spans_[j].begin <= time + near && j < i + 64; ++j) {
    if (spans_[j].begin <= time && time < std::max(spans_[j].end, spans_[j].begin + 1)) return &spans_[j];
    if (std::abs(spans_[j].begin - time) < std::abs(best->begin - time)) best = &spans_[j];
  }
  return best;
}

TimeNs SpanRow::time_in(State state, TimeNs begin, TimeNs end) const {
  if (coarse_ && !fine_in(begin, end)) return static_cast<TimeNs>(coarse_->between(begin, end).time[index_of(state)]);
  for (const Sums& sums : sums_) {
    if (sums.state != state) continue;
    const std::size_t first = first_ending_after(begin);
    const std::size_t last = first_beginning_at(end, first);
    if (first >= last) return 0;
    TimeNs time = sums.before[last] - sums.before[first];
    const Span& head = spans_[first];
    const Span& tail = spans_[last - 1];
    if (head.state == state && head.begin < begin) time -= std::min(begin, head.end) - head.begin;
    if (tail.state == state && tail.end > end) time -= tail.end - std::max(end, tail.begin);
    return time;
  }
  return 0;
}

double SpanRow::polling_in(TimeNs begin, TimeNs end) const {
  const std::span<const Span> inside = overlapping(begin, end);
  if (polling_before_.empty() || inside.empty() || !fine_in(begin, end)) return 0;
  const auto first = static_cast<std::size_t>(inside.data() - spans_.data()), next = first + inside.size();
  double time = polling_before_[next] - polling_before_[first];
  const auto outside = [&](std::size_t i, TimeNs length) {
    return static_cast<double>(polling_part(i, i + 1)) * static_cast<double>(std::max<TimeNs>(length, 0));
  };
  return time - outside(first, begin - spans_[first].begin) - outside(next - 1, spans_[next - 1].end - end);
}

std::span<const Span> SpanRow::overlapping(TimeNs begin, TimeNs end) const {
  const std::size_t first = first_ending_after(begin);
  if (first == spans_.size() || spans_[first].begin >= end) return {};
  return {spans_.data() + first, first_beginning_at(end, first) - first};
}

std::size_t SpanRow::count_in(TimeNs begin, TimeNs end) const {
  if (coarse_ && !fine_in(begin, end)) return static_cast<std::size_t>(coarse_->between(begin, end).begun + 0.5);
  const std::size_t first = first_ending_after(begin);
  if (first == spans_.size() || spans_[first].begin >= end) return 0;
  return first_beginning_at(end, first) - first;
}

bool is_density(const std::vector<DrawnSpan>& drawn, std::uint32_t columns) {
  // Marks that fill half of the width cannot be told apart.
  if (drawn.size() * 2 > columns) return true;
  return std::any_of(drawn.begin(), drawn.end(), [](const DrawnSpan& one) { return one.events > 1.5f; });
}

std::vector<SpanRow> pack(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<SpanRow> rows;
  for (const Span& span : spans) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SpanRow& r) { return r.can_add(span.begin); });
    if (row != rows.end()) {
      row->add(span);
    } else {
      rows.emplace_back().add(span);
    }
  }
  for (SpanRow& row : rows) row.finish();
  return rows;
}

}  // namespace wicprof::gui
